// The address of the page, which always names the shown choice. Each choice of the reader is a step in the
// history, so that Back undoes it.

/** Calls `onStep(query)` after Back and Forward. */
export class Address {
    #typing = false; // whether the last step was made by typing
    #onStep;

    constructor(onStep) {
        this.#onStep = onStep;
        addEventListener("popstate", () => {
            this.#typing = false;
            onStep(location.search);
        });
    }

    /** Replace the current query. */
    replace(query) {
        history.replaceState(history.state, "", location.pathname + query);
    }

    /** Add this query as a step; text typed without a break is one step. */
    push(query, { isTyped = false } = {}) {
        if (query === location.search) return;
        if (isTyped && this.#typing) this.replace(query);
        else history.pushState({}, "", location.pathname + query);
        this.#typing = isTyped;
    }

    /** Add the query of opened details as a step. */
    open(query) {
        history.pushState({ isOpened: true }, "", location.pathname + query);
        this.#typing = false;
    }

    /** Go to a query that opens details; from other details this is no step. */
    go(query) {
        if (history.state?.isOpened) this.replace(query);
        else this.open(query);
        this.#onStep(query);
    }

    /** Go back to before `open`; returns false, with this query, if the page began with open details. */
    close(query) {
        const isBack = history.state?.isOpened === true;
        if (isBack) history.back();
        else this.replace(query);
        return isBack;
    }
}

// The address of the page. It always has what is shown; what the reader chooses is a step in the history,
// so that Back undoes it.

/** Calls `onStep(query)` after Back and Forward. */
export class Address {
    #typing = false; // whether the last step was made by typing

    constructor(onStep) {
        addEventListener("popstate", () => {
            this.#typing = false;
            onStep(location.search);
        });
    }

    /** Have this query in place of the present one. */
    replace(query) {
        history.replaceState(history.state, "", location.pathname + query);
    }

    /** Have this query as a step after the present one; all that is typed in one go is one step. */
    push(query, { isTyped = false } = {}) {
        if (query === location.search) return;
        if (isTyped && this.#typing) this.replace(query);
        else history.pushState({}, "", location.pathname + query);
        this.#typing = isTyped;
    }

    /** Have the query of opened details as a step. */
    open(query) {
        history.pushState({ isOpened: true }, "", location.pathname + query);
        this.#typing = false;
    }

    /** Go back to before `open`; to this query if the page began with what is closed now. Returns which. */
    close(query) {
        const isBack = history.state?.isOpened === true;
        if (isBack) history.back();
        else this.replace(query);
        return isBack;
    }
}

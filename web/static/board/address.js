// The address of the page. It always has what is shown; opened details are a step in the history, so that
// Back closes them.

/** Calls `onStep(query)` after Back and Forward. */
export class Address {
    constructor(onStep) {
        addEventListener("popstate", () => onStep(location.search));
    }

    /** Have this query in place of the present one. */
    replace(query) {
        history.replaceState(history.state, "", location.pathname + query);
    }

    /** Have this query as a step after the present one. */
    open(query) {
        history.pushState({ isOpened: true }, "", location.pathname + query);
    }

    /** Go back to before `open`; to this query if the page began with what is closed now. */
    close(query) {
        if (history.state?.isOpened) history.back();
        else this.replace(query);
    }
}

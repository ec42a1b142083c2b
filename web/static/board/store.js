// The state of the page. The view is made from it: see view.js.

/** One frozen state. It is drawn before the next frame after a change. */
export class Store {
    #state;
    #draw = () => {};
    #frame = 0;

    constructor(state) {
        this.#state = Object.freeze(state);
    }

    get state() {
        return this.#state;
    }

    /** Set the function that shows the newest state. */
    set draw(draw) {
        this.#draw = draw;
    }

    /** Replace these values; values in the state are never changed in place. */
    change(values) {
        this.#state = Object.freeze({ ...this.#state, ...values });
        this.#frame ||= requestAnimationFrame(() => this.flush());
    }

    /** Draw pending changes now. */
    flush() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        this.#draw(this.#state);
    }
}

/** A function that returns its last result as long as its arguments are the same. */
export function kept(reckon) {
    let [last, result] = [null, undefined];
    return (...given) => {
        if (last === null || given.some((value, at) => value !== last[at])) {
            [last, result] = [given, reckon(...given)];
        }
        return result;
    };
}

// The state of the page, in one place. The view follows from it: see view.js.

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

    /** The function that shows a state; it is called with the newest. */
    set draw(draw) {
        this.#draw = draw;
    }

    /** Put these values in place of the old; a value that is in the state is never changed itself. */
    change(values) {
        this.#state = Object.freeze({ ...this.#state, ...values });
        this.#frame ||= requestAnimationFrame(() => this.flush());
    }

    /** Draw now what is to be drawn. */
    flush() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        this.#draw(this.#state);
    }
}

/** A function that returns its last result again as long as its arguments are the same. */
export function kept(reckon) {
    let [last, result] = [null, undefined];
    return (...given) => {
        if (last === null || given.some((value, at) => value !== last[at])) {
            [last, result] = [given, reckon(...given)];
        }
        return result;
    };
}

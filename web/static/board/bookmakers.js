// A button for each bookmaker: shows its state, and filters the list by it. In the line of bookmakers that
// are not live, it opens the menu of all bookmakers instead.

import { element, setText } from "./dom.js";

const UNKNOWN = { status: "unknown", state: "unknown", since: null, last_error: null, simulated: false };

/** The text for the state of a bookmaker, from its check in /health. */
function stateOf({ status, state, since, last_error, prices, delayed_s }, clock) {
    const from = since === null ? "" : ` since ${clock.moment(since)}`;
    if (state === "quarantined" || (status === "fail" && last_error !== null)) return `down${from}`;
    if (state === "live" && prices === "collected") return "collected";
    const shown = ["stale", "retrying", "suspect", "ended"].includes(state) ? state + from : state;
    return delayed_s > 0 ? `${shown}, up to ${delayed_s} s late` : shown;
}

const FEES = {
    included: "Its prices include its fees.",
    "not included": "Fees are not included in its prices.",
};

/** The kind of a bookmaker's prices, its fees and its terms, as far as it has any. */
function offerOf({ offered_by, fees, terms }) {
    if (offered_by === undefined) return [];
    const kind = `${offered_by[0].toUpperCase()}${offered_by.slice(1)}.`;
    return [kind, FEES[fees], terms];
}

/** The bookmaker's kind, if it is not the usual one, and its state. */
function wordsOf(check, clock) {
    const isPlain = [undefined, "bookmaker"].includes(check.offered_by);
    return isPlain ? stateOf(check, clock) : `${check.offered_by}, ${stateOf(check, clock)}`;
}

export class Bookmakers {
    #group;
    #onToggle;
    #buttons = new Map();

    constructor(group, onToggle) {
        this.#group = group;
        this.#onToggle = onToggle;
    }

    /**
     * Show these bookmakers, `{ id, name }`, with their checks, if they have any. `chosen` is null for
     * buttons that do not choose.
     */
    show(columns, checks, chosen, clock) {
        const ids = columns.map(({ id }) => id);
        for (const [id, button] of this.#buttons) {
            if (ids.includes(id)) continue;
            button.remove();
            this.#buttons.delete(id);
        }
        columns.forEach(({ id, name }, index) => {
            const button = this.#button(id);
            this.#fill(button, name, checks[id] ?? UNKNOWN, chosen?.includes(id), clock);
            const there = this.#group.children[index] ?? null;
            if (there !== button) this.#group.insertBefore(button, there);
        });
    }

    #button(id) {
        if (!this.#buttons.has(id)) {
            const parts = ["mark", "name", "state"].map((name) => element("span", name));
            const button = element("button", "chip", { type: "button" }, ...parts);
            button.dataset.bookmaker = id;
            button.addEventListener("click", () => this.#onToggle(id));
            this.#buttons.set(id, button);
        }
        return this.#buttons.get(id);
    }

    #fill(button, name, check, isPressed, clock) {
        const [, nameText, stateText] = button.children;
        setText(nameText, name);
        setText(stateText, wordsOf(check, clock));
        const isStarting = check.state === "starting" && check.last_error === null; // no fault
        button.dataset.status = isStarting ? "starting" : check.status;
        button.ariaPressed = isPressed === undefined ? null : String(isPressed);
        button.title = [...offerOf(check), check.last_error].filter(Boolean).join(" ");
    }
}

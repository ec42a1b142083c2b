// Requests what moved most from the service, as long as the reader looks at it.

import { marketQuery } from "./markets.js";

const EVERY_MS = 30_000;
const RETRY_MS = 10_000;
const PATIENCE_MS = 10_000;
const OLD_MS = 300_000; // an older answer is not shown

/** Before an answer: `status` is then "unknown". */
export const NO_MOVES = Object.freeze({ key: "", status: "unknown", answer: null });

export const moversKey = ({ movers, market }) => `${movers} ${market}`;

/**
 * Calls `onAnswer({ key, status, answer })`: `key` is of the choice, `status` "read", "failed" or "none"
 * (the service keeps no archive). After a failure `answer` is the last one of the same choice, or null if
 * that is old.
 */
export class Movers {
    #onAnswer;
    #last = NO_MOVES;
    #readAt = -Infinity;
    #dueAt = -Infinity;
    #key = "";

    constructor(onAnswer) {
        this.#onAnswer = onAnswer;
    }

    /** Request the moves of a choice if they are needed and due. */
    async ask(choice, isNeeded) {
        const key = moversKey(choice);
        if (!isNeeded || document.hidden || (key === this.#key && performance.now() < this.#dueAt)) return;
        [this.#key, this.#dueAt] = [key, Infinity];
        const { status, answer } = await moversOf(choice);
        if (key !== this.#key) return; // another choice was made meanwhile
        const now = performance.now();
        this.#dueAt = now + (status === "failed" ? RETRY_MS : EVERY_MS);
        if (status === "read") this.#readAt = now;
        const isUsable = status === "failed" && key === this.#last.key && now - this.#readAt < OLD_MS;
        this.#last = { key, status, answer: isUsable ? this.#last.answer : answer };
        this.#onAnswer(this.#last);
    }
}

async function moversOf({ movers, market }) {
    try {
        const query = new URLSearchParams({ window_s: movers, ...marketQuery(market) });
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const response = await fetch(`api/v2/movers?${query}`, { cache: "no-cache", signal });
        if (response.ok) return { status: "read", answer: await response.json() };
        return { status: response.status === 404 ? "none" : "failed", answer: null };
    } catch {
        return { status: "failed", answer: null };
    }
}

// The ages of a match's prices, from /api/v2/fixtures/ID/ages, because fixtures have no ages.

import { idOf, marketOf, marketQuery } from "./markets.js";

const EVERY_MS = 5000;
const PATIENCE_MS = 4000;
const LEAST_MS = 1000;

/** Requests the ages of one match at a time, and calls `onAnswer()`. */
export class Ages {
    #onAnswer;
    #asked = { key: "", market: null, stamp: 0, at: -Infinity };
    #entries = {};
    #isKnown = false;
    #ahead = 0; // seconds by which the service's clock is ahead of this machine's

    constructor(onAnswer) {
        this.#onAnswer = onAnswer;
    }

    /** Request the ages of a match at once, after each change of it, and every few seconds. */
    async ask({ key, stamp, market }) {
        const { key: before, stamp: last, at } = this.#asked;
        if (key !== before || market !== this.#asked.market) [this.#entries, this.#isKnown] = [{}, false];
        else if (performance.now() - at < (stamp === last ? EVERY_MS : LEAST_MS)) return;
        const asked = { key, market, stamp, at: performance.now() };
        this.#asked = asked;
        const answer = await agesOf(key, market);
        if (this.#asked !== asked) return; // a newer request was made
        this.#entries = answer?.entries ?? {};
        this.#isKnown = answer !== null;
        if (answer) this.#ahead = answer.at - Date.now() / 1000;
        this.#onAnswer();
    }

    /** Whether the last requested match has had an answer. */
    get isKnown() {
        return this.#isKnown;
    }

    /** Seconds since a time of the service (Unix seconds); zero for a time in the future. */
    since(time) {
        return Math.max(-this.until(time), 0);
    }

    /** Seconds until a time of the service. */
    until(time) {
        return time - Date.now() / 1000 - this.#ahead;
    }

    /** Seconds since the source of an entry last vouched for its price; null if unknown. */
    ofConfirmation(id) {
        const at = this.#entries[id]?.confirmed_at ?? null;
        return at === null ? null : this.since(at);
    }
}

/** Null if unknown, as with a service that knows only ages of the usual market. */
async function agesOf(key, market) {
    try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const query = new URLSearchParams(marketQuery(market.key)).toString();
        const url = `api/v2/fixtures/${encodeURIComponent(idOf(key))}/ages${query && `?${query}`}`;
        const response = await fetch(url, { signal });
        const answer = response.ok ? await response.json() : null;
        return marketOf(answer?.market) === market ? answer : null;
    } catch {
        return null;
    }
}

// How old the prices of a match are: /api/v2/fixtures/ID/ages, because fixtures have no ages.

import { idOf, marketOf, marketQuery } from "./markets.js";

const EVERY_MS = 5000;
const PATIENCE_MS = 4000;
const LEAST_MS = 1000;

/** Asks for one match at a time, and calls `onAnswer()`. */
export class Ages {
    #onAnswer;
    #asked = { key: "", market: null, stamp: 0, at: -Infinity };
    #entries = {};
    #isKnown = false;
    #ahead = 0; // seconds by which the service's clock is ahead of this machine's

    constructor(onAnswer) {
        this.#onAnswer = onAnswer;
    }

    /** Ask for those of a match: at once, after a change of it, and every few seconds. */
    async ask({ key, stamp, market }) {
        const { key: before, stamp: last, at } = this.#asked;
        if (key !== before || market !== this.#asked.market) [this.#entries, this.#isKnown] = [{}, false];
        else if (performance.now() - at < (stamp === last ? EVERY_MS : LEAST_MS)) return;
        const asked = { key, market, stamp, at: performance.now() };
        this.#asked = asked;
        const answer = await agesOf(key, market);
        if (this.#asked !== asked) return; // another answer is newer
        this.#entries = answer?.entries ?? {};
        this.#isKnown = answer !== null;
        if (answer) this.#ahead = answer.at - Date.now() / 1000;
        this.#onAnswer();
    }

    /** Whether there was an answer for the match that was asked for last. */
    get isKnown() {
        return this.#isKnown;
    }

    /** Seconds since that time of the service (Unix seconds); zero if it is yet to come. */
    since(time) {
        return Math.max(-this.until(time), 0);
    }

    /** Seconds until that time of the service. */
    until(time) {
        return time - Date.now() / 1000 - this.#ahead;
    }

    /** Seconds since the source of an entry last vouched for its price; null if that is not known. */
    ofConfirmation(id) {
        const at = this.#entries[id]?.confirmed_at ?? null;
        return at === null ? null : this.since(at);
    }
}

/** Null if they are not known, as where the service has those of the usual market alone. */
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

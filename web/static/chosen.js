// Surebets of the chosen bookmakers alone: their legs may be others than those of all bookmakers together.

import { OUTCOMES } from "./board.js";

const EVERY_MS = 1000; // such a surebet may end without a change of its match
const PATIENCE_MS = 4000;
const MOST = 20;

/** Asks the service for them, and calls `onAnswer()`. */
export class Chosen {
    #onAnswer;
    #ids = new Set();
    #surebets = new Map(); // those of the last answer, by the id of their match
    #askedAt = -Infinity;
    #isAsking = false;
    stamp = 0; // counts the answers that say something new

    constructor(onAnswer) {
        this.#onAnswer = onAnswer;
    }

    /** Ask for those of these bookmakers, at most once a second; `isNeeded`: there are surebets of all. */
    async ask(ids, isNeeded) {
        if (this.#ids.size !== ids.size || [...ids].some((id) => !this.#ids.has(id))) {
            this.#ids = new Set(ids);
            this.#askedAt = -Infinity;
            this.#keep([]);
        }
        const isChoice = isNeeded && ids.size > 1 && ids.size <= MOST;
        if (!isChoice || this.#isAsking || performance.now() - this.#askedAt < EVERY_MS) return;
        this.#isAsking = true;
        this.#askedAt = performance.now();
        const asked = this.#ids;
        const fixtures = await surebetsOf([...asked]);
        this.#isAsking = false;
        if (asked === this.#ids) this.#keep(fixtures);
        this.#onAnswer();
    }

    /** The surebet of a match at the chosen bookmakers, null for none; each leg has the price that is shown. */
    surebetOf(match) {
        if (match.surebet === null || this.#ids.size === 0) return match.surebet;
        if (match.surebet.legs.every((leg) => this.#ids.has(bookmakerOf(leg)))) return match.surebet;
        const found = this.#surebets.get(match.key) ?? null;
        return found?.legs.every((leg) => isShown(leg, match)) ? found : null;
    }

    #keep(fixtures) {
        const before = JSON.stringify([...this.#surebets]);
        this.#surebets = new Map(fixtures.map(({ id, surebet }) => [id, surebet]));
        if (JSON.stringify([...this.#surebets]) !== before) this.stamp += 1;
    }
}

const bookmakerOf = ({ id }) => id.slice(0, id.indexOf("_"));

function isShown(leg, match) {
    const offer = match.offers.get(bookmakerOf(leg));
    return offer?.id === leg.id && offer.prices[OUTCOMES.indexOf(leg.outcome)] === leg.odds;
}

/** The fixtures with a surebet of these bookmakers; none if that is not known. */
async function surebetsOf(ids) {
    try {
        const query = new URLSearchParams({ bookmaker: ids.join(",") });
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const response = await fetch(`api/v2/surebets?${query}`, { signal });
        return response.ok ? (await response.json()).fixtures : [];
    } catch {
        return [];
    }
}

// Surebets among the chosen bookmakers only: their legs may differ from those among all bookmakers.

import { byMarket, marketOf, marketQuery } from "./markets.js";

const EVERY_MS = 1000; // because such a surebet may end without a change of its match
const PATIENCE_MS = 4000;
const MOST = 20;

/**
 * Requests these surebets from the service, and calls `onAnswer({ ids, found })`; `found` is by match id.
 */
export class Chosen {
    #onAnswer;
    #ids = [];
    #market = "";
    #found = new Map();
    #askedAt = -Infinity;
    #isAsking = false;

    constructor(onAnswer) {
        this.#onAnswer = onAnswer;
    }

    /** Request surebets of these bookmakers, at most once a second; `isNeeded`: any surebets exist. */
    async ask(ids, market, isNeeded) {
        const isOther = ids.join() !== this.#ids.join() || market !== this.#market;
        if (isOther) [this.#ids, this.#market, this.#askedAt] = [ids, market, -Infinity];
        const isDue = !this.#isAsking && performance.now() - this.#askedAt >= EVERY_MS;
        if (!isNeeded || !isDue || ids.length < 2 || ids.length > MOST) return;
        [this.#isAsking, this.#askedAt] = [true, performance.now()];
        const asked = this.#ids;
        const found = new Map((await surebetsFrom(asked, market)).map(({ id, surebet }) => [id, surebet]));
        this.#isAsking = false;
        if (asked !== this.#ids || JSON.stringify([...found]) === JSON.stringify([...this.#found])) return;
        this.#found = found;
        this.#onAnswer({ ids: asked, found });
    }
}

/**
 * A function that returns the surebet of a match at these bookmakers (at all, without ids), null for none.
 * `chosen` is the last answer, perhaps for other bookmakers. Each leg has the shown price.
 */
export function surebetsOf(ids, chosen) {
    const among = new Set(ids);
    const own = chosen.ids.join() === ids.join() ? chosen.found : new Map();
    return (match) => {
        if (match.surebet === null || among.size === 0) return match.surebet;
        if (match.surebet.legs.every((leg) => among.has(bookmakerOf(leg)))) return match.surebet;
        const found = own.get(match.key) ?? null;
        return found?.legs.every((leg) => isShown(leg, match)) ? found : null;
    };
}

const bookmakerOf = ({ id }) => id.slice(0, id.indexOf("_"));

function isShown(leg, match) {
    if (marketOf(leg.market) !== match.market) return false;
    const offer = match.offers.get(bookmakerOf(leg));
    const at = match.market.outcomes.findIndex(({ key }) => key === leg.outcome);
    return offer?.id === leg.id && offer.prices[at] === leg.odds;
}

/** The fixtures with a surebet at these bookmakers; none if unknown. */
async function surebetsFrom(ids, market) {
    try {
        const query = new URLSearchParams({ bookmaker: ids.join(","), ...marketQuery(market) });
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const response = await fetch(`api/v2/surebets?${query}`, { signal });
        return response.ok ? byMarket((await response.json()).fixtures) : [];
    } catch {
        return [];
    }
}

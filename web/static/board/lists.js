// Requests the list of a market's fixtures, or of all surebets, and the changes since a version.

import { marketQuery, viewFor } from "./markets.js";

const PATIENCE_MS = 30_000;
const VALUES_MS = 10_000; // values are shown for 15 s without an answer: 5 s pass between two requests

/** The answer while the fixtures are not linked yet: there is no list, and earlier lists are invalid. */
export const COMPARING = "comparing"; // a text: separate scripts have separate modules

/** The whole list; null without an answer. */
export function askList(market) {
    const query = new URLSearchParams(marketQuery(market)).toString();
    return asked(`api/v2/${viewFor(market)}${query && `?${query}`}`);
}

/** The changes since an id, or the whole list (without `removed`); null without an answer. */
export async function askNews(id, market) {
    const query = new URLSearchParams({ view: viewFor(market), since: id, ...marketQuery(market) });
    return (id && (await asked(`api/v2/changes?${query}`))) ?? askList(market);
}

/** The markets on the board, `{ market, kind, line, fixtures_count }`; null if unknown. */
export async function askMarkets() {
    return (await asked("api/v2/markets"))?.markets ?? null;
}

/** The values of all markets, and `at`, the service's time (Unix s); null if unknown. */
export async function askValues() {
    try {
        const signal = AbortSignal.timeout(VALUES_MS);
        const response = await fetch("api/v2/value?market=any", { cache: "no-cache", signal });
        const at = Date.parse(response.headers.get("date")) / 1000;
        return response.ok ? { ...(await response.json()), at } : null;
    } catch {
        return null;
    }
}

/** The record of values, or a problem with its `code`; null without an answer. */
export async function askRecord() {
    try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        return await (await fetch("api/v2/value/record", { cache: "no-cache", signal })).json();
    } catch {
        return null;
    }
}

/** The alerts that the service's rules fired after a cursor (empty: all known); null without an answer. */
export function askAlerts(cursor) {
    return asked(`api/v2/alerts${cursor && `?since=${encodeURIComponent(cursor)}`}`);
}

// Never from the cache unasked: after Back these would be old prices.
async function asked(url) {
    try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const response = await fetch(url, { cache: "no-cache", signal });
        const answer = await response.json();
        if (response.ok) return answer;
        return answer.code === "linking" ? COMPARING : null;
    } catch {
        return null;
    }
}

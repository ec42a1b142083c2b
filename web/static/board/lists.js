// Requests the list of a market's fixtures, or of all surebets, and the changes since a version.

import { marketQuery, viewFor } from "./markets.js";

const PATIENCE_MS = 30_000;

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

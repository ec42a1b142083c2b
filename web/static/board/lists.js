// The list of fixtures of a market, of all the surebets, and what changed in it since a version, asked for
// once.

import { marketQuery, viewFor } from "./markets.js";

const PATIENCE_MS = 30_000;

/** The answer while the fixtures are not linked yet: there is no list, and none of before holds. */
export const COMPARING = "comparing"; // a value: scripts that are sent apart have modules of their own

/** The whole list; null if it cannot be had. */
export function askList(market) {
    const query = new URLSearchParams(marketQuery(market)).toString();
    return asked(`api/v2/${viewFor(market)}${query && `?${query}`}`);
}

/** What changed since that id, or the whole list, which has no `removed`; null if neither can be had. */
export async function askNews(id, market) {
    const query = new URLSearchParams({ view: viewFor(market), since: id, ...marketQuery(market) });
    return (id && (await asked(`api/v2/changes?${query}`))) ?? askList(market);
}

/** The markets on the board, `{ market, kind, line, fixtures_count }`; null if they are not known. */
export async function askMarkets() {
    return (await asked("api/v2/markets"))?.markets ?? null;
}

// Never from a cache without asking: that would be old prices after a way back in the history.
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

// Sorts matches into rows with headings. Pure.

import { isPlayed } from "./days.js";
import { byLeague, less } from "./leagues.js";

const collator = new Intl.Collator("en", { numeric: true });
const byName = (a, b) => collator.compare(a.home, b.home) || collator.compare(a.key, b.key);
const byStart = (a, b) => less(a.start ?? Infinity, b.start ?? Infinity);

const WEAK = "Weak: they never lose, but one result gives all stakes back";

/** The key of the heading of matches in play. */
export const PLAYED = "played";

/**
 * The rows: headings `{ key, header, title, count, league }` and matches `{ key, header, match, isMixed }`,
 * where `header` is the heading's key, and `isMixed` says whether it has several leagues. Pinned matches
 * come first, then matches in play. `by` is "league", "time" or "profit"; rows by profit have `isSurebet`,
 * and weak surebets, which may gain nothing, are last.
 */
export function arranged(matches, { by, leagues, preferences, clock, minute, surebetOf }) {
    const isSurebet = by === "profit";
    const isPinned = (match) => !isSurebet && preferences.matches.includes(match.key);
    const isNow = (match) => !isSurebet && !isPinned(match) && isPlayed(match, minute * 60);
    const order = byLeague(preferences.leagues);
    const leagueOf = (match) => leagues.get(match.leagueId);
    const byLeagues = (a, b) => order(leagueOf(a), leagueOf(b)) || byStartAndName(a, b);
    const groups = [
        ["pinned", () => ({ title: "Pinned" }), matches.filter(isPinned).sort(byStartAndName), true],
        [PLAYED, () => ({ title: "In play" }), matches.filter(isNow).sort(byLeagues), true],
        ...GROUPS[by](
            matches.filter((match) => !isPinned(match) && !isNow(match)),
            { leagues, pinned: preferences.leagues, clock, surebetOf },
        ),
    ];
    return groups.flatMap(([key, heading, some, isMixed = false]) => {
        if (some.length === 0) return [];
        const rows = some.map((match) => ({ key: match.key, header: key, match, isMixed, isSurebet }));
        return [{ ...heading(), key, header: key, count: some.length }, ...rows];
    });
}

const byStartAndName = (a, b) => byStart(a, b) || byName(a, b);

/** The functions that make the groups `[key, heading, matches]`, by order. */
const GROUPS = {
    league(matches, { leagues, pinned }) {
        const groups = grouped(matches.sort(byStartAndName), ({ leagueId }) => leagueId);
        const ordered = [...groups.keys()].map((id) => leagues.get(id)).sort(byLeague(pinned));
        return ordered.map(({ id, title }) => [
            `league ${id}`,
            () => ({ title, league: id, isPinned: pinned.includes(id) }),
            groups.get(id),
        ]);
    },
    time(matches, { leagues, clock, pinned }) {
        const order = byLeague(pinned);
        const of = (match) => leagues.get(match.leagueId);
        matches.sort((a, b) => byStart(a, b) || order(of(a), of(b)) || byName(a, b));
        const groups = grouped(matches, ({ start }) => (start === null ? "" : clock.date(start)));
        return [...groups].map(([date, some]) => {
            const title = date ? clock.dayName(some[0].start) : "No kick-off known";
            return [`day ${date}`, () => ({ title }), some, true];
        });
    },
    profit(matches, { surebetOf }) {
        const of = (match) => surebetOf(match) ?? { profit: -Infinity };
        const profit = (match) => of(match).usual_profit ?? of(match).profit;
        matches.sort((a, b) => less(profit(b), profit(a)) || byStartAndName(a, b));
        return [
            ["profit", () => ({ title: "Surebets by profit" }), matches.filter((match) => !of(match).weak)],
            ["weak", () => ({ title: WEAK }), matches.filter((match) => of(match).weak)],
        ];
    },
};

function grouped(matches, keyOf) {
    const groups = new Map();
    for (const match of matches) {
        const key = keyOf(match);
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(match);
    }
    return groups;
}

// Which matches a choice shows. Pure.

import { isOn } from "./days.js";
import { finder } from "./search.js";

/**
 * Those that any of these bookmakers offers, with the words of the text, of the league, day and kind that
 * are chosen. `surebetOf` gives the surebet of a match, null for none.
 */
export function filtered(
    matches,
    { bookmakers, league, day, text, surebets },
    { preferences, clock, minute, surebetOf },
) {
    const [finds, isOnDay] = [finder(text), isOn(day, clock, minute * 60)];
    const isSure = isSurebet(surebetOf, preferences);
    return matches.filter(
        (match) =>
            bookmakers.some((id) => match.offers.has(id)) &&
            (!surebets || isSure(match)) &&
            (!league || match.leagueId === league || match.league === league) &&
            isOnDay(match) &&
            finds(match.words),
    );
}

/** The function that says whether a match has a surebet that gains what the reader wants at least. */
export function isSurebet(surebetOf, { least }) {
    return (match) => {
        const surebet = surebetOf(match);
        return surebet !== null && surebet.profit >= least / 100;
    };
}

/** The function that says whether a match has such a surebet that gains for certain. */
export function isCertain(surebetOf, preferences) {
    const isSure = isSurebet(surebetOf, preferences);
    return (match) => isSure(match) && !surebetOf(match).weak;
}

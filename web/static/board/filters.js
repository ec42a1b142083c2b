// Filters matches by a choice. Pure.

import { isOn } from "./days.js";
import { finder } from "./search.js";

/**
 * The matches that any of these bookmakers offers, with the words of the text, in the chosen league, on the
 * chosen day and of the chosen kind. `surebetOf` returns the surebet of a match, null for none.
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

/** A function that returns whether a match has a surebet with the reader's least profit. */
export function isSurebet(surebetOf, { least }) {
    return (match) => {
        const surebet = surebetOf(match);
        return surebet !== null && surebet.profit >= least / 100;
    };
}

/** A function that returns whether a match has such a surebet that is not weak. */
export function isCertain(surebetOf, preferences) {
    const isSure = isSurebet(surebetOf, preferences);
    return (match) => isSure(match) && !surebetOf(match).weak;
}

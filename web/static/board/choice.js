// The reader's choice of matches, as the page's address has it. Pure.

import { ANY_MARKET, marketOf, USUAL_MARKET } from "./markets.js";
import { WINDOWS } from "./moves.js";
import { ODDS } from "./odds.js";
import { USUAL } from "./preferences.js";

export const EVERYTHING = { bookmakers: [], league: "", day: "", text: "", surebets: false, movers: 0 };

/**
 * The choice in the query of an address. `league` is an id, or a label in older addresses; `day` is "now"
 * (in play), "today", "tomorrow" or a date like 2026-11-26; `fixture` is the match with open details, and
 * filters nothing; `market` is that of the prices (markets.js), the usual one if the query's is unknown;
 * `movers` shows what moved most in so many seconds, 0 the list.
 */
export function choiceOf(query) {
    const given = new URLSearchParams(query);
    return possible({
        bookmakers: [...new Set(given.getAll("bookmaker"))],
        league: given.get("league") ?? "",
        day: given.get("day") ?? "",
        text: given.get("q") ?? "",
        surebets: given.has("surebets"),
        movers: WINDOWS.has(Number(given.get("movers"))) ? Number(given.get("movers")) : 0,
        fixture: given.get("fixture") ?? "",
        market: marketOf(given.get("market") ?? undefined)?.key ?? USUAL_MARKET,
    });
}

/** A choice of movers or of surebets; the usual market replaces "all markets", which only surebets have. */
export function possible(given) {
    const choice = given.movers ? { ...given, surebets: false } : given;
    const isPossible = choice.surebets || choice.market !== ANY_MARKET;
    return isPossible ? choice : { ...choice, market: USUAL_MARKET };
}

/** The query of a choice and of shared preferences; empty, or beginning with `?`. */
export function queryOf(choice, { by, odds } = USUAL) {
    const { bookmakers, league, day, text, surebets, movers, fixture, market } = choice;
    const given = new URLSearchParams(market === USUAL_MARKET ? {} : { market });
    bookmakers.forEach((bookmaker) => given.append("bookmaker", bookmaker));
    if (league) given.set("league", league);
    if (day) given.set("day", day);
    if (text.trim()) given.set("q", text.trim());
    if (surebets) given.set("surebets", "1");
    if (movers) given.set("movers", movers);
    if (by !== USUAL.by) given.set("by", by);
    if (odds !== USUAL.odds) given.set("odds", odds);
    if (fixture) given.set("fixture", fixture);
    const query = given.toString();
    return query && `?${query}`;
}

/** The order and the form of odds in the query, which replace the reader's preferences. */
export function shownBy(query) {
    const given = new URLSearchParams(query);
    const [by, odds] = [given.get("by"), given.get("odds")];
    return { ...(ORDERS.includes(by) ? { by } : {}), ...(Object.hasOwn(ODDS, odds) ? { odds } : {}) };
}

/** Whether a choice filters nothing. */
export function isEverything({ bookmakers, league, day, text, surebets, movers }) {
    return bookmakers.length === 0 && !league && !day && !text.trim() && !surebets && !movers;
}

const ORDERS = ["league", "time"];

/** A list with this value added, or removed if the list had it. */
export function toggled(values, value) {
    return values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
}

// What the reader has chosen to see, as the address of the page has it. Pure.

export const EVERYTHING = { bookmakers: [], league: "", day: "", text: "", surebets: false };

/**
 * The choice in the query of an address. `league` is an id, or a label as it was in older addresses; `day`
 * is "today", "tomorrow" or as 2026-11-26; `fixture` is the match with shown details, which filters
 * nothing.
 */
export function choiceOf(query) {
    const given = new URLSearchParams(query);
    return {
        bookmakers: [...new Set(given.getAll("bookmaker"))],
        league: given.get("league") ?? "",
        day: given.get("day") ?? "",
        text: given.get("q") ?? "",
        surebets: given.has("surebets"),
        fixture: given.get("fixture") ?? "",
    };
}

/** The query of a choice, empty or beginning with `?`. */
export function queryOf({ bookmakers, league, day, text, surebets, fixture }) {
    const given = new URLSearchParams();
    bookmakers.forEach((bookmaker) => given.append("bookmaker", bookmaker));
    if (league) given.set("league", league);
    if (day) given.set("day", day);
    if (text.trim()) given.set("q", text.trim());
    if (surebets) given.set("surebets", "1");
    if (fixture) given.set("fixture", fixture);
    const query = given.toString();
    return query && `?${query}`;
}

/** Whether a choice leaves nothing out. */
export function isEverything({ bookmakers, league, day, text, surebets }) {
    return bookmakers.length === 0 && !league && !day && !text.trim() && !surebets;
}

/** A list with this value in it, or without it if it was. */
export function toggled(values, value) {
    return values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
}

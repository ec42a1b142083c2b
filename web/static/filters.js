// The filters, kept in the address, so that they can be linked to and survive a reload.

import { folded } from "./board.js";

export class Filters {
    bookmakers = new Set();
    league = "";
    text = "";
    surebets = false;
    fixture = ""; // the fixture with shown details; it filters nothing

    constructor(query) {
        const given = new URLSearchParams(query);
        this.bookmakers = new Set(given.getAll("bookmaker"));
        this.league = given.get("league") ?? "";
        this.text = given.get("q") ?? "";
        this.surebets = given.has("surebets");
        this.fixture = given.get("fixture") ?? "";
    }

    get isEmpty() {
        return this.bookmakers.size === 0 && !this.league && !this.text.trim() && !this.surebets;
    }

    clear() {
        this.bookmakers.clear();
        this.league = this.text = "";
        this.surebets = false;
    }

    toggle(bookmaker) {
        if (!this.bookmakers.delete(bookmaker)) this.bookmakers.add(bookmaker);
    }

    /** The query of the address, empty or beginning with `?`. */
    get query() {
        const given = new URLSearchParams();
        this.bookmakers.forEach((bookmaker) => given.append("bookmaker", bookmaker));
        if (this.league) given.set("league", this.league);
        if (this.text.trim()) given.set("q", this.text.trim());
        if (this.surebets) given.set("surebets", "1");
        if (this.fixture) given.set("fixture", this.fixture);
        const query = given.toString();
        return query && `?${query}`;
    }

    shows(bookmaker) {
        return this.bookmakers.size === 0 || this.bookmakers.has(bookmaker);
    }

    /**
     * Those with every word of the text that a shown bookmaker offers, as league and surebets say;
     * `surebetOf` gives the surebet of a match, null for none.
     */
    apply(matches, surebetOf) {
        const words = folded(this.text).split(/\s+/).filter(Boolean);
        return matches.filter(
            (match) =>
                (!this.surebets || surebetOf(match) !== null) &&
                (!this.league || match.league === this.league) &&
                words.every((word) => match.words.includes(word)) &&
                [...match.offers.keys()].some((bookmaker) => this.shows(bookmaker)),
        );
    }
}

// The model of the board: matches, made from the stream's fixtures. Does not depend on the page.

import { byMarket, idOf, marketOf } from "./markets.js";
import { sought } from "./search.js";

const HISTORY = 24; // moves in a sparkline

/** Matches by fixture id (and by market if several are shown), with offers by bookmaker id. */
export class Board {
    #offers = new Map(); // by entry and market: an entry that moves to another match keeps its history
    #matches = new Map();
    #list = null;
    #puts = 0; // one counter for all matches; a row compares it to see whether it is still current
    names = new Map(); // display names of the bookmakers seen since the last whole list, by id

    /** The match of this id, or undefined. */
    match(key) {
        return this.#matches.get(key);
    }

    /** The content for a view; a new object each time, because matches are changed in place. */
    get seen() {
        const match = (key) => this.match(key);
        return { matches: this.#all, names: this.names, stamp: this.#puts, match };
    }

    /** All matches; a new array after one came, left or moved. */
    get #all() {
        this.#list ??= [...this.#matches.values()];
        return this.#list;
    }

    /** Replace everything by a whole list; different prices count as changes. */
    replace(listed) {
        const fixtures = byMarket(listed);
        fixtures.forEach(check);
        this.names.clear();
        const keys = new Set(fixtures.map(({ id }) => id));
        this.#apply(
            fixtures,
            [...this.#matches.keys()].filter((id) => !keys.has(id)),
        );
    }

    /** Apply changes; returns whether an offer was removed. */
    change(changed, removed) {
        const fixtures = byMarket(changed);
        fixtures.forEach(check);
        const gone = removed.map(({ id }) => id);
        return this.#apply(fixtures, this.#isByMarket ? this.#without(changed, fixtures, gone) : gone);
    }

    /** If each row has one market: the keys of rows that these changes no longer have. */
    #without(changed, fixtures, gone) {
        const ids = new Set([...changed.map(({ id }) => id), ...gone]);
        const stay = new Set(fixtures.map(({ id }) => id));
        return [...this.#matches.keys()].filter((key) => ids.has(idOf(key)) && !stay.has(key));
    }

    get #isByMarket() {
        const [first = ""] = this.#matches.keys();
        return idOf(first) !== first;
    }

    #apply(fixtures, gone) {
        const before = fixtures.flatMap((fixture) => this.#put(fixture));
        for (const id of gone) {
            before.push(...(this.#matches.get(id)?.offers.values() ?? []));
            this.#matches.delete(id);
            this.#list = null;
        }
        const lost = before.filter(
            (offer) => this.#matches.get(offer.match.key)?.offers.get(offer.bookmaker) !== offer,
        );
        lost.forEach(({ slot }) => this.#offers.delete(slot));
        return lost.length > 0;
    }

    /** Returns the match's offers from before. */
    #put(fixture) {
        if (!this.#matches.has(fixture.id)) {
            this.#matches.set(fixture.id, { key: fixture.id, offers: new Map() });
        }
        const match = this.#matches.get(fixture.id);
        const before = [...match.offers.values()];
        match.market = marketOf(fixture.market);
        match.isOtherBet = fixture.in_play_rule === "from_now"; // its prices count only later goals
        match.offers = new Map(fixture.entries.map((entry) => this.#offer(entry, match, fixture)));
        const { home, away, league, country, start_time: start, fair, surebet, in_play: inPlay } = fixture;
        const [leagueId, spelt] = [fixture.league_id, spellingsOf(fixture)];
        this.#puts += 1;
        const stamp = this.#puts;
        Object.assign(match, {
            home,
            away,
            league,
            leagueId,
            country,
            start,
            fair,
            surebet,
            inPlay,
            spelt,
            stamp,
        });
        const place = placeOf(match);
        if (place !== match.place) {
            Object.assign(match, { place, words: sought(...spelt) });
            this.#list = null;
        }
        return before;
    }

    #offer(entry, match, fixture) {
        const bookmaker = entry.id.slice(0, entry.id.indexOf("_"));
        const { key: market, outcomes } = match.market;
        const slot = `${entry.id} ${market}`; // a price on another line is no move
        const offer = this.#offers.get(slot) ?? { bookmaker, slot, prices: [], moves: [], history: [] };
        const { id, updated, rule, link, home = fixture.home, away = fixture.away } = entry;
        const listed = home === fixture.home && away === fixture.away ? null : [home, away];
        const [isCollected, isSuperseded] = [entry.prices === "collected", entry.superseded === true];
        const isDoubted = entry.doubts !== undefined; // a price is far above the other bookmakers' prices
        const url = entry.url?.startsWith("https://") ? entry.url : null;
        const marks = { isCollected, isSuperseded, isDoubted };
        Object.assign(offer, { id, match, updated, rule, link, listed, ...marks, url });
        outcomes.forEach(({ key }, index) => moved(offer, index, entry.odds[key]));
        this.#offers.set(slot, offer);
        this.names.set(bookmaker, entry.bookmaker);
        return [bookmaker, offer];
    }
}

/** The names of its teams and its league at all bookmakers. */
function spellingsOf({ home, away, league, country, entries }) {
    const teams = [home, away, ...entries.flatMap((entry) => [entry.home ?? home, entry.away ?? away])];
    const leagues = [
        league,
        country?.replaceAll("-", " ") ?? "",
        ...entries.map((entry) => entry.league ?? league),
    ];
    return [[...new Set(teams)], [...new Set(leagues)]];
}

/** Throw an error if this is not a valid fixture. */
function check({ id, home, away, league, league_id, country, start_time, entries, surebet, market }) {
    const outcomes = marketOf(market)?.outcomes ?? [];
    const legs = surebet?.legs ?? [];
    const odds = [...entries, ...legs].flatMap((priced) => numbersOf(priced, outcomes));
    const named = entries.flatMap((entry) => [entry.id, entry.bookmaker, entry.rule, entry.link]);
    const texts = [
        id,
        home,
        away,
        league,
        league_id,
        country ?? "",
        ...named,
        ...legs.map((leg) => leg.id),
    ];
    const gains = surebet ? [surebet.profit, surebet.book_sum, surebet.usual_profit ?? 0] : [];
    const numbers = [start_time ?? 0, ...gains, ...odds];
    const isMarked = entries.every(({ prices }) => prices === "live" || prices === "collected");
    const isWhole = isMarked && outcomes.length > 0;
    if (!isWhole || !texts.every((text) => typeof text === "string") || !numbers.every(Number.isFinite)) {
        throw new Error(`${id} is no fixture of a list`);
    }
}

function numbersOf({ odds, updated, commission, stake }, outcomes) {
    if (updated === undefined) return [odds, commission, stake]; // of a leg
    return [updated, ...outcomes.map(({ key }) => odds[key])];
}

/** The facts that decide a match's place, and whether filters show it. */
function placeOf({ leagueId, start, surebet, offers, spelt }) {
    return JSON.stringify([leagueId, start, Boolean(surebet), spelt, ...offers.keys()]);
}

function moved(offer, index, price) {
    const before = offer.prices[index];
    if (before === price) return;
    offer.prices[index] = price;
    if (before !== undefined) offer.moves[index] = { isUp: price > before, at: performance.now() };
    offer.history[index] = [...(offer.history[index] ?? []), price].slice(-HISTORY);
}

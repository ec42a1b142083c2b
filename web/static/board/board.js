// The model of the board: the stream's fixtures, each a match. Does not depend on the page.

import { byMarket, idOf, marketOf } from "./markets.js";
import { sought } from "./search.js";

const HISTORY = 24; // moves that a sparkline shows

/** Matches by the id of their fixture, or by that and a market, each with its offers by bookmaker id. */
export class Board {
    #offers = new Map(); // by entry and market: what a link moves to another match keeps its history
    #matches = new Map();
    #list = null;
    #puts = 0; // one count for all matches: a row tells by it whether what it shows is still the same
    names = new Map(); // display names of the bookmakers seen since the last whole list, by id

    /** The match of this id, or undefined. */
    match(key) {
        return this.#matches.get(key);
    }

    /** What a view is made of: a new object each time, as matches are changed in place. */
    get seen() {
        const match = (key) => this.match(key);
        return { matches: this.#all, names: this.names, stamp: this.#puts, match };
    }

    /** All matches; another array when one came, left, or is to stand elsewhere. */
    get #all() {
        this.#list ??= [...this.#matches.values()];
        return this.#list;
    }

    /** Replace everything by a whole list; a price that differs counts as changed. */
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

    /** Change some; returns whether an offer went. */
    change(changed, removed) {
        const fixtures = byMarket(changed);
        fixtures.forEach(check);
        const gone = removed.map(({ id }) => id);
        return this.#apply(fixtures, this.#isByMarket ? this.#without(changed, fixtures, gone) : gone);
    }

    /** Where rows are of one market each: the keys that these changes leave out. */
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

    /** Returns the offers that the match had before. */
    #put(fixture) {
        if (!this.#matches.has(fixture.id)) {
            this.#matches.set(fixture.id, { key: fixture.id, offers: new Map() });
        }
        const match = this.#matches.get(fixture.id);
        const before = [...match.offers.values()];
        match.market = marketOf(fixture.market);
        match.isOtherBet = fixture.in_play_rule === "from_now"; // its prices are of goals from now on
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
        const slot = `${entry.id} ${market}`; // a price on another line is not a price that moved
        const offer = this.#offers.get(slot) ?? { bookmaker, slot, prices: [], moves: [], history: [] };
        const { id, updated, rule, link, home = fixture.home, away = fixture.away } = entry;
        const listed = home === fixture.home && away === fixture.away ? null : [home, away];
        const [isCollected, isSuperseded] = [entry.prices === "collected", entry.superseded === true];
        const isDoubted = entry.doubts !== undefined; // a price is far above those of the others
        const url = entry.url?.startsWith("https://") ? entry.url : null;
        const marks = { isCollected, isSuperseded, isDoubted };
        Object.assign(offer, { id, match, updated, rule, link, listed, ...marks, url });
        outcomes.forEach(({ key }, index) => moved(offer, index, entry.odds[key]));
        this.#offers.set(slot, offer);
        this.names.set(bookmaker, entry.bookmaker);
        return [bookmaker, offer];
    }
}

/** All names of its teams, and of its league, at all bookmakers. */
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

/** What decides where a match stands, and whether a filter shows it. */
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

// The model of the board: the stream's fixtures, each a match. Does not depend on the page.

export const OUTCOMES = ["1", "X", "2"];
export const UNKNOWN_LEAGUE = "Unknown";

const HISTORY = 24; // moves that a sparkline shows
const collator = new Intl.Collator("en", { numeric: true });

/** Text without case and accents, for searching: "gremio" finds "Grêmio". */
export function folded(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Matches by the id of their fixture, each with its offers by bookmaker id. */
export class Board {
    #offers = new Map(); // by the id of the entry: what a link moves to another match keeps its history
    #matches = new Map();
    #sorted = null;
    #puts = 0; // one count for all matches: a row tells by it whether what it shows is still the same
    names = new Map(); // display names of the bookmakers seen since the last whole list, by id

    get size() {
        return this.#matches.size;
    }

    /** The match of this id, or undefined. */
    match(key) {
        return this.#matches.get(key);
    }

    /** Replace everything by a whole list; a price that differs counts as changed. */
    replace(fixtures) {
        fixtures.forEach(check);
        this.names.clear();
        const listed = new Set(fixtures.map(({ id }) => id));
        this.#apply(
            fixtures,
            [...this.#matches.keys()].filter((id) => !listed.has(id)),
        );
    }

    /** Change some; returns whether an offer went. */
    change(fixtures, removed) {
        fixtures.forEach(check);
        return this.#apply(
            fixtures,
            removed.map(({ id }) => id),
        );
    }

    /** Sort again, because the time has changed. */
    outdate() {
        this.#sorted = null;
    }

    /** All matches: by the next kick-off of their league, league, kick-off and name; unknown last. */
    get sorted() {
        this.#sorted ??= inOrder([...this.#matches.values()]);
        return this.#sorted;
    }

    #apply(fixtures, gone) {
        const before = fixtures.flatMap((fixture) => this.#put(fixture));
        for (const id of gone) {
            before.push(...(this.#matches.get(id)?.offers.values() ?? []));
            this.#matches.delete(id);
            this.#sorted = null;
        }
        const lost = before.filter(
            (offer) => this.#matches.get(offer.match.key)?.offers.get(offer.bookmaker) !== offer,
        );
        lost.forEach(({ id }) => this.#offers.delete(id));
        return lost.length > 0;
    }

    /** Returns the offers that the match had before. */
    #put(fixture) {
        if (!this.#matches.has(fixture.id)) {
            this.#matches.set(fixture.id, { key: fixture.id, offers: new Map() });
        }
        const match = this.#matches.get(fixture.id);
        const before = [...match.offers.values()];
        const placed = placeOf(match);
        match.offers = new Map(fixture.entries.map((entry) => this.#offer(entry, match, fixture)));
        const { home, away, league, start_time: start, fair, surebet, in_play: inPlay } = fixture;
        this.#puts += 1;
        Object.assign(match, { home, away, league, start, fair, surebet, inPlay, stamp: this.#puts });
        if (placeOf(match) !== placed) {
            match.words = folded(`${home} ${away} ${league}`);
            this.#sorted = null;
        }
        return before;
    }

    #offer(entry, match, fixture) {
        const bookmaker = entry.id.slice(0, entry.id.indexOf("_"));
        const offer = this.#offers.get(entry.id) ?? { bookmaker, prices: [], moves: [], history: [] };
        const { id, updated, rule, link, home = fixture.home, away = fixture.away } = entry;
        const listed = home === fixture.home && away === fixture.away ? null : [home, away];
        const isCollected = entry.prices === "collected";
        Object.assign(offer, { id, match, updated, rule, link, listed, isCollected });
        OUTCOMES.forEach((outcome, index) => moved(offer, index, entry.odds[outcome]));
        this.#offers.set(id, offer);
        this.names.set(bookmaker, entry.bookmaker);
        return [bookmaker, offer];
    }
}

/** Throw an error if this is not a valid fixture. */
function check({ id, home, away, league, start_time, entries, surebet }) {
    const legs = surebet?.legs ?? [];
    const odds = [...entries, ...legs].flatMap(numbersOf);
    const named = entries.flatMap((entry) => [entry.id, entry.bookmaker, entry.rule, entry.link]);
    const texts = [id, home, away, league, ...named, ...legs.map((leg) => leg.id)];
    const numbers = [start_time ?? 0, ...(surebet ? [surebet.profit, surebet.book_sum] : []), ...odds];
    const isMarked = entries.every(({ prices }) => prices === "live" || prices === "collected");
    if (!isMarked || !texts.every((text) => typeof text === "string") || !numbers.every(Number.isFinite)) {
        throw new Error(`${id} is no fixture of a list`);
    }
}

function numbersOf({ odds, updated, commission, stake }) {
    if (updated === undefined) return [odds, commission, stake]; // of a leg
    return [updated, ...OUTCOMES.map((outcome) => odds[outcome])];
}

/** The highest price of each outcome at these bookmakers; empty with fewer than two offers. */
export function bestOf(match, ids) {
    const offers = ids.flatMap((id) => match.offers.get(id) ?? []);
    if (offers.length < 2) return [];
    return OUTCOMES.map((_, index) => Math.max(...offers.map((offer) => offer.prices[index])));
}

/** What decides where a match stands, and whether a filter shows it. */
function placeOf({ home, away, league, start, surebet, offers }) {
    return JSON.stringify([home, away, league, start, Boolean(surebet), ...offers.keys()]);
}

function moved(offer, index, price) {
    const before = offer.prices[index];
    if (before === price) return;
    offer.prices[index] = price;
    if (before !== undefined) offer.moves[index] = { isUp: price > before, at: performance.now() };
    offer.history[index] = [...(offer.history[index] ?? []), price].slice(-HISTORY);
}

function inOrder(matches) {
    const now = Date.now() / 1000;
    const [next, first] = [new Map(), new Map()]; // kick-offs, by league
    for (const { league, start } of matches) {
        if (start === null) continue;
        first.set(league, Math.min(first.get(league) ?? Infinity, start));
        if (start > now) next.set(league, Math.min(next.get(league) ?? Infinity, start));
    }
    const between = (times, match, other) =>
        (times.get(match.league) ?? Infinity) - (times.get(other.league) ?? Infinity);
    return matches.sort(
        (match, other) =>
            (match.league === UNKNOWN_LEAGUE) - (other.league === UNKNOWN_LEAGUE) ||
            between(next, match, other) || // two unknown kick-offs give NaN, which is falsy
            between(first, match, other) ||
            collator.compare(match.league, other.league) ||
            (match.league > other.league) - (match.league < other.league) || // to the collator "01" is "1"
            (match.start ?? Infinity) - (other.start ?? Infinity) ||
            collator.compare(match.home, other.home) ||
            collator.compare(match.key, other.key),
    );
}

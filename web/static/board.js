// The model of the board: the stream's entries, grouped by match. Does not depend on the page.

export const OUTCOMES = ["1", "X", "2"];
export const UNKNOWN_LEAGUE = "Unknown";

const HISTORY = 24; // moves that a sparkline shows
const collator = new Intl.Collator("en", { numeric: true });

/** Text without case and accents, for searching: "gremio" finds "Grêmio". */
export function folded(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Matches by key, each with its offers by bookmaker id. */
export class Board {
    #offers = new Map();
    #matches = new Map();
    #sorted = null;
    names = new Map(); // display names of the bookmakers seen since the last whole list, by id

    get size() {
        return this.#offers.size;
    }

    /** Replace all entries by a whole list; a price that differs counts as changed. */
    replace(entries) {
        entries.forEach(check);
        this.names.clear();
        const listed = new Set(entries.map((entry) => entry.id));
        for (const id of [...this.#offers.keys()]) {
            if (!listed.has(id)) this.#remove(id);
        }
        entries.forEach((entry) => this.#put(entry));
    }

    change(entries, removed) {
        entries.forEach(check);
        removed.forEach(({ id }) => this.#remove(id));
        entries.forEach((entry) => this.#put(entry));
    }

    /** All matches, by league, kick-off and name; unknown values come last. */
    get sorted() {
        this.#sorted ??= [...this.#matches.values()].map(summed).sort(compare);
        return this.#sorted;
    }

    #put(entry) {
        const bookmaker = entry.id.slice(0, entry.id.indexOf("_"));
        const key = keyOf(entry);
        let offer = this.#offers.get(entry.id);
        if (offer?.match.key !== key) {
            this.#remove(entry.id);
            offer = { bookmaker, prices: [], moves: [], history: [], match: this.#match(key, entry) };
            offer.match.offers.set(bookmaker, offer);
            this.#offers.set(entry.id, offer);
            this.#sorted = null;
        }
        this.names.set(bookmaker, entry.bookmaker);
        if (offer.league !== entry.league || offer.start !== entry.start_time) this.#sorted = null;
        offer.league = entry.league;
        offer.start = entry.start_time;
        offer.updated = entry.updated;
        OUTCOMES.forEach((outcome, index) => moved(offer, index, entry.odds[outcome]));
        offer.match.stamp += 1;
    }

    #match(key, { home, away }) {
        if (!this.#matches.has(key)) {
            this.#matches.set(key, { key, home, away, offers: new Map(), stamp: 0 });
        }
        return this.#matches.get(key);
    }

    #remove(id) {
        const offer = this.#offers.get(id);
        if (offer === undefined) return;
        const { match } = offer;
        this.#offers.delete(id);
        match.offers.delete(offer.bookmaker);
        match.stamp += 1;
        if (match.offers.size === 0) this.#matches.delete(match.key);
        this.#sorted = null;
    }
}

/** Throw an error if this is not a valid entry. */
function check(entry) {
    const texts = [entry.id, entry.bookmaker, entry.home, entry.away, entry.league];
    const prices = OUTCOMES.map((outcome) => entry.odds?.[outcome]);
    const numbers = [entry.updated, entry.start_time ?? 0, ...prices];
    if (!texts.every((text) => typeof text === "string") || !numbers.every(Number.isFinite)) {
        throw new Error(`${entry.id} is no entry of a list`);
    }
}

/** The highest price of each outcome; empty with fewer than two offers. */
export function bestOf(match) {
    const offers = [...match.offers.values()];
    if (offers.length < 2) return [];
    return OUTCOMES.map((_, index) => Math.max(...offers.map((offer) => offer.prices[index])));
}

// Entries of one source share the part of the id after the bookmaker's. Two sources may use the same
// id for different matches, so the names must be equal as well.
function keyOf({ id, home, away }) {
    return `${id.slice(id.indexOf("_") + 1)}\n${home}\n${away}`;
}

function moved(offer, index, price) {
    const before = offer.prices[index];
    if (before === price) return;
    offer.prices[index] = price;
    if (before !== undefined) offer.moves[index] = { isUp: price > before, at: performance.now() };
    offer.history[index] = [...(offer.history[index] ?? []), price].slice(-HISTORY);
}

/** The league and the kick-off of a match are those of its first offer. */
function summed(match) {
    const [{ league, start }] = match.offers.values();
    if (match.league !== league || match.start !== start) {
        Object.assign(match, { league, start, stamp: match.stamp + 1 });
        match.words = folded(`${match.home} ${match.away} ${league}`);
    }
    return match;
}

function compare(one, other) {
    return (
        (one.league === UNKNOWN_LEAGUE) - (other.league === UNKNOWN_LEAGUE) ||
        collator.compare(one.league, other.league) ||
        (one.start ?? Infinity) - (other.start ?? Infinity) || // two unknown ones give NaN, which is falsy
        collator.compare(one.home, other.home) ||
        collator.compare(one.key, other.key)
    );
}

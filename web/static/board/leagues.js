// The leagues of the matches on the board: one for each id, although its labels may differ. Pure.

const UNKNOWN_LEAGUE = "Unknown";

/** Leagues that most readers look for, in this order. */
const LARGE = (
    "fifa.wc uefa.euro uefa.cl eng.1 esp.1 ita.1 ger.1 fra.1 uefa.el uefa.ecl uefa.nl con.ca caf.nations " +
    "con.lib eng.2 por.1 ned.1 bra.1 arg.1 tur.1 bel.1 sco.1 usa.1 mex.1 ksa.1"
).split(" ");

const collator = new Intl.Collator("en", { numeric: true });
const SMALL = new Set(["and", "of", "the"]);

/** The leagues by id, `{ id, title, next, first }`: kick-offs in Unix seconds, infinity for none. */
export function leaguesOf(matches, now) {
    const leagues = new Map();
    for (const { leagueId, league, country, start } of matches) {
        if (!leagues.has(leagueId)) {
            leagues.set(leagueId, {
                id: leagueId,
                labels: new Map(),
                country,
                next: Infinity,
                first: Infinity,
            });
        }
        const known = leagues.get(leagueId);
        known.labels.set(league, (known.labels.get(league) ?? 0) + 1);
        if (start === null) continue;
        known.first = Math.min(known.first, start);
        if (start > now) known.next = Math.min(known.next, start);
    }
    for (const league of leagues.values()) league.title = titleOf(league);
    return leagues;
}

/** A league's most frequent label after its country: "Spain · La Liga", also for "La Liga - Spain". */
function titleOf({ labels, country }) {
    const [[label]] = [...labels].sort(([a, n], [b, m]) => m - n || collator.compare(a, b));
    if (country === null) return label;
    const name = countryName(country);
    const parts = label.split(/ - |: /);
    const own = parts.filter((part) => part.toLowerCase() !== name.toLowerCase());
    if (own.length === parts.length && label.toLowerCase().includes(name.toLowerCase())) return label;
    return [name, own.join(" - ") || label].join(" · ");
}

/** "bosnia-and-herzegovina" is Bosnia and Herzegovina. */
function countryName(country) {
    const words = country.split("-");
    return words.map((word) => (SMALL.has(word) ? word : word[0].toUpperCase() + word.slice(1))).join(" ");
}

/**
 * The order of leagues: the reader's own, then the large ones, then by next kick-off, first kick-off and
 * title; unknown leagues are last.
 */
export function byLeague(pinned) {
    const place = (ids, { id }) => (ids.includes(id) ? ids.indexOf(id) : Infinity);
    return (a, b) =>
        less(place(pinned, a), place(pinned, b)) ||
        less(place(LARGE, a), place(LARGE, b)) ||
        (a.title === UNKNOWN_LEAGUE) - (b.title === UNKNOWN_LEAGUE) ||
        less(a.next, b.next) ||
        less(a.first, b.first) ||
        collator.compare(a.title, b.title) ||
        less(a.id, b.id);
}

/** A negative number if the first is less, zero if both are equal, even if both are infinite. */
export function less(a, b) {
    return (a > b) - (a < b);
}

// What the page calls markets and their outcomes. A kind that has no row here is not shown at all. Pure.

const MINUS = "−";

/** A line as it is, and a handicap with its sign; that of the away team is the opposite. */
const goals = (line) => String(line);
const handicap = (line) => (line === 0 ? "0" : `${line > 0 ? "+" : MINUS}${Math.abs(line)}`);

/**
 * A row for each kind, in the order of the chooser. Of each outcome its key, its title above the prices,
 * and how it is said; `lines` write its line where the kind has some. So many outcomes are `winners`.
 */
const KINDS = {
    "1x2": {
        name: "1X2",
        outcomes: [
            ["1", "1", "home win"],
            ["X", "X", "draw"],
            ["2", "2", "away win"],
        ],
    },
    over_under: {
        name: "Over/under",
        outcomes: [
            ["over", "Over", "over"],
            ["under", "Under", "under"],
        ],
        lines: [goals, goals],
    },
    asian_handicap: {
        name: "Handicap",
        outcomes: [
            ["home", "1", "home"],
            ["away", "2", "away"],
        ],
        lines: [handicap, (line) => handicap(-line)],
    },
    btts: {
        name: "Both teams to score",
        outcomes: [
            ["yes", "Yes", "both teams score"],
            ["no", "No", "not both teams score"],
        ],
    },
    double_chance: {
        name: "Double chance",
        outcomes: [
            ["1X", "1X", "home win or draw"],
            ["12", "12", "home or away win"],
            ["X2", "X2", "draw or away win"],
        ],
        winners: 2,
    },
};

/** The key of what is shown unless another is chosen, and of the line that most bookmakers have. */
export const USUAL_MARKET = "1x2";
const MAIN = "main";

/** The key of all markets together: of surebets alone, each line of a match with a row of its own. */
export const ANY_MARKET = "any";
const ANY = Object.freeze({
    key: ANY_MARKET,
    kind: ANY_MARKET,
    name: "All markets",
    line: null,
    hasLines: true,
    outcomes: Array.from({ length: 3 }, () => ({ key: "", title: "", mark: "", spoken: "" })),
    winners: 1,
    title: "All markets",
});

/** The parameter of the service for a market; none for the usual one. Of all, weak surebets are shown. */
export function marketQuery(market = USUAL_MARKET) {
    if (market === ANY_MARKET) return { market, weak: "1" };
    return market === USUAL_MARKET ? {} : { market };
}

/** The list of the service that has what is shown of a market: its name at /api/v2, and as `view`. */
export const viewFor = (market) => (market === ANY_MARKET ? "surebets" : "fixtures");

/** The id that the service has for a match; the key of a row of all markets has its market behind that. */
export const idOf = (key) => key.split(" ")[0];

/** Fixtures by one market each: of several that a fixture has, those that the page knows. */
export function byMarket(fixtures) {
    return fixtures.flatMap(({ markets, ...usual }) => {
        if (markets === undefined) return [usual];
        const known = Object.entries(markets).filter(([key]) => marketOf(key) !== null);
        return known.map(([key, fields]) => ({
            ...usual,
            ...fields,
            id: `${usual.id} ${key}`,
            market: key,
        }));
    });
}

const known = new Map();

/**
 * The market of a key, such as `over_under:2.5`, or `over_under:main` for the main line of each match; null
 * for one that the page does not know. Equal keys have the same object, `{ key, kind, name, line, hasLines,
 * outcomes, winners, title }`; each outcome has `key`, `title`, `mark` (short, with its line) and `spoken`.
 */
export function marketOf(key = USUAL_MARKET) {
    if (!known.has(key)) known.set(key, made(key));
    return known.get(key);
}

function made(key) {
    if (key === ANY_MARKET) return ANY;
    const [kind, text] = key.split(":");
    const row = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    const isMain = text === MAIN;
    const line = text === undefined || isMain ? null : Number(text);
    const isRight = row && (row.lines === undefined) === (text === undefined) && !Number.isNaN(line);
    if (!isRight) return null;
    const { name, winners = 1 } = row;
    const hasLines = row.lines !== undefined;
    const outcomes = row.outcomes.map(([outcome, title, spoken], at) => {
        if (line === null) return { key: outcome, title, mark: title, spoken };
        const written = row.lines[at](line);
        return { key: outcome, title, mark: `${title[0]} ${written}`, spoken: `${spoken} ${written}` };
    });
    const title = line === null ? name : `${name} ${lineOf({ kind, line })}`;
    return Object.freeze({ key, kind, name, line, hasLines, outcomes, winners, title });
}

/** The line of a market in words: "2.5", or of a handicap that of home and of away. */
export function lineOf({ kind, line }) {
    return [...new Set(KINDS[kind].lines.map((written) => written(line)))].join(" / ");
}

/** A market in a few words: of a handicap the line of the home team alone. */
export function shortOf({ kind, name, line }) {
    return line === null ? name : `${name} ${KINDS[kind].lines[0](line)}`;
}

/** Matches in the order of their markets: kinds as the chooser has them, then lines. */
export function ordered(matches) {
    const place = ({ market: { kind } }) => Object.keys(KINDS).indexOf(kind);
    return [...matches].sort((a, b) => place(a) - place(b) || a.market.line - b.market.line);
}

/** How the outcome of a leg is said, such as "over 2.5", and how it is marked. */
export const spokenOf = (leg) => outcomeOf(leg)?.spoken ?? leg.outcome;
export const markOf = (leg) => outcomeOf(leg)?.mark ?? leg.outcome;

function outcomeOf({ outcome, market }) {
    return marketOf(market)?.outcomes.find(({ key }) => key === outcome);
}

/** The key that the chooser has for a kind: that of its main lines where it has lines. */
function keyOf(kind) {
    if (kind === ANY_MARKET) return ANY_MARKET;
    return KINDS[kind].lines === undefined ? kind : `${kind}:${MAIN}`;
}

/**
 * What there is to choose from, of the `markets` of the service: `kinds` and, of the chosen kind, `lines`,
 * each `{ value, title }`; no kinds where there is nothing but the usual one, no lines where it has none.
 * With `isAny` all of them can be chosen together.
 */
export function choicesOf(markets, { key, kind, line }, isAny = false) {
    const offered = new Set([USUAL_MARKET, kind, ...markets.map((market) => market.kind)]);
    const kinds = Object.keys(KINDS).filter((name) => offered.has(name));
    const options = kinds.map((name) => ({ value: keyOf(name), title: KINDS[name].name }));
    if (kinds.length < 2 && kind !== ANY_MARKET) return { kinds: [], lines: [] };
    if (isAny) options.unshift({ value: ANY_MARKET, title: ANY.title });
    if (kind === ANY_MARKET || KINDS[kind].lines === undefined) return { kinds: options, lines: [] };
    const counts = new Map(markets.map((market) => [market.market, market.fixtures_count]));
    const keys = markets.filter((market) => market.kind === kind).map((market) => market.market);
    if (line !== null && !keys.includes(key)) keys.push(key);
    const lines = keys.flatMap((name) => marketOf(name) ?? []).sort((a, b) => a.line - b.line);
    const titled = lines.map((market) => {
        return { value: market.key, title: `${lineOf(market)} (${counts.get(market.key) ?? 0})` };
    });
    return { kinds: options, lines: [{ value: keyOf(kind), title: "Main lines" }, ...titled] };
}

/** The value of the chooser for a market: that of its kind. */
export const kindValue = ({ kind }) => keyOf(kind);

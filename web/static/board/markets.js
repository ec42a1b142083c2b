// The page's names of markets and their outcomes. A kind without a row here is not shown. Pure.

const MINUS = "−";

/** A line as written; a handicap has its sign, the opposite one for the away team. */
const goals = (line) => String(line);
const handicap = (line) => (line === 0 ? "0" : `${line > 0 ? "+" : MINUS}${Math.abs(line)}`);

/**
 * A row for each kind, in the order of the chooser. Each outcome has its key, its title above the prices,
 * and its spoken form; `lines` write its line if the kind has lines. `winners` is how many outcomes win.
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

/** The key of the usual market, and of the line that most bookmakers have. */
export const USUAL_MARKET = "1x2";
const MAIN = "main";

/** The key of all markets together: only for surebets; each line of a match has its own row. */
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

/** The service's parameter for a market; none for the usual one. All markets include weak surebets. */
export function marketQuery(market = USUAL_MARKET) {
    if (market === ANY_MARKET) return { market, weak: "1" };
    return market === USUAL_MARKET ? {} : { market };
}

/** The service's list for a market: its name below /api/v2, and as `view`. */
export const viewFor = (market) => (market === ANY_MARKET ? "surebets" : "fixtures");

/** The service's id of a match; with all markets the key of a row is this id and the market. */
export const idOf = (key) => key.split(" ")[0];

/** Fixtures with one market each, for all of a fixture's markets that the page knows. */
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

/** The line of a market in words: "2.5", or the handicaps of home and of away. */
export function lineOf({ kind, line }) {
    return [...new Set(KINDS[kind].lines.map((written) => written(line)))].join(" / ");
}

/** A market in a few words; a handicap shows only the home team's line. */
export function shortOf({ kind, name, line }) {
    return line === null ? name : `${name} ${KINDS[kind].lines[0](line)}`;
}

/** Matches sorted by market: by kind, as in the chooser, then by line. */
export function ordered(matches) {
    const place = ({ market: { kind } }) => Object.keys(KINDS).indexOf(kind);
    return [...matches].sort((a, b) => place(a) - place(b) || a.market.line - b.market.line);
}

/** The spoken form of a leg's outcome, such as "over 2.5", and its mark. */
export const spokenOf = (leg) => outcomeOf(leg)?.spoken ?? leg.outcome;
export const markOf = (leg) => outcomeOf(leg)?.mark ?? leg.outcome;

function outcomeOf({ outcome, market }) {
    return marketOf(market)?.outcomes.find(({ key }) => key === outcome);
}

/** The chooser's key for a kind: its main lines if it has lines. */
function keyOf(kind) {
    if (kind === ANY_MARKET) return ANY_MARKET;
    return KINDS[kind].lines === undefined ? kind : `${kind}:${MAIN}`;
}

/**
 * The choices among the service's `markets`: `kinds`, and `lines` of the chosen kind, each `{ value, title
 * }`; no kinds if there is only the usual market, no lines if the kind has none. With `isAny` all markets
 * can be chosen together.
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

/** The chooser's value for a market: its kind's. */
export const kindValue = ({ kind }) => keyOf(kind);

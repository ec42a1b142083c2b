// Stakes on markets where a bet may be half won or returned, or several outcomes may win together. Exact,
// by the service's method (actors/markets/stakes.py). Pure.

import { ceil, floor, sum } from "./exact.js";

const GOALS = 21; // goals of a team; more goals give the same result
const NEAR = 3; // steps around exact stakes in which whole stakes are searched
const wonIf = (isWon) => (home, away) => (isWon(home, away) ? 4 : -4);

/** For each outcome, by how many quarters of a goal it wins, for the goals and the line in quarters. */
const MARGINS = {
    over_under: [
        (home, away, line) => 4 * (home + away) - line,
        (home, away, line) => line - 4 * (home + away),
    ],
    asian_handicap: [
        (home, away, line) => 4 * (home - away) + line,
        (home, away, line) => 4 * (away - home) - line,
    ],
    double_chance: [
        wonIf((home, away) => home >= away),
        wonIf((home, away) => home !== away),
        wonIf((home, away) => home <= away),
    ],
};

/** Whether a result of a market returns all stakes, as on whole lines. */
export const mayReturnAll = ({ line }) => line !== null && Number.isInteger(line);

/** Whether exactly one outcome of such a market wins, and all others lose. */
export const isPlain = ({ kind }) => !Object.hasOwn(MARGINS, kind);

/**
 * The function `least(count, unit, goal)` of such a market: the smallest stakes, in units, that return
 * `goal` cents each, null if they exceed `count`. `terms` are the legs' terms (stakes.js). Null if the page
 * cannot compute it: outcomes that may win together are at one bookmaker.
 */
export function leastOf(market, terms) {
    const conditions = conditionsOf(market, terms);
    if (market.winners === 1) return (count, unit, goal) => ofLine(conditions, count, unit, goal);
    if (terms.some(({ isShared }) => isShared)) return null;
    const shares = terms.map(({ p, q, t, u }) => {
        const net = 1 + (Number(p) / Number(q) - 1) * (1 - Number(t) / Number(u));
        return 1 / (market.winners * net);
    });
    return (count, unit, goal) => nearby(conditions, shares, count, unit, goal);
}

/**
 * The combined results of all bets, each once: for each outcome from -2 (lost) to 2 (won). Without the
 * result that returns all stakes, because it does so for every division.
 */
function resultsOf({ kind, line }) {
    const found = new Map();
    for (let home = 0; home <= GOALS; home += 1) {
        for (let away = 0; away <= GOALS; away += 1) {
            const margins = MARGINS[kind].map((margin) => margin(home, away, (line ?? 0) * 4));
            const results = margins.map((margin) => Math.max(-2, Math.min(margin, 2)));
            if (Math.max(...results) > 0) found.set(results.join(), results);
        }
    }
    return [...found.values()];
}

/**
 * The conditions under which every result returns the goal: for each outcome the parts that a stake of 1
 * returns, and `of`, the number of parts. A bookmaker pays the smaller of the gross and the net return.
 */
function conditionsOf(market, terms) {
    return resultsOf(market).flatMap((results) =>
        charges(terms).map((isCharged) => {
            const returns = terms.map((leg, at) => returnOf(leg, BigInt(results[at]), isCharged[at]));
            const of = returns.reduce((product, [, parts]) => product * parts, 1n);
            return { parts: returns.map(([value, parts]) => (value * of) / parts), of };
        }),
    );
}

/** All combinations of bookmakers that take their commission, each on all its legs, or do not. */
function charges(terms) {
    const taking = [...new Set(terms.filter(({ t }) => t > 0n).map(({ id }) => id))];
    const ways = Array.from({ length: 2 ** taking.length }, (_, way) => way);
    return ways.map((way) =>
        terms.map(({ id }) => ((way >> taking.indexOf(id)) & 1) === 1 && taking.includes(id)),
    );
}

/** The return of a stake of 1 after a result, as a fraction. */
function returnOf({ p, q, t, u }, result, isCharged) {
    const [gross, of] = result > 0n ? [2n * q + (p - q) * result, 2n * q] : [2n + result, 2n];
    return isCharged ? [gross * u - t * (gross - of), of * u] : [gross, of];
}

/** For two outcomes: each condition limits the first stake to a range. */
function ofLine(conditions, count, unit, goal) {
    let [least, most] = [0n, count];
    for (const {
        parts: [first, second],
        of,
    } of conditions) {
        const [left, slope] = [goal * of - second * count * unit, (first - second) * unit];
        if (slope > 0n) least = larger(least, ceil(left, slope));
        else if (slope < 0n) most = -larger(-most, -floor(-left, -slope));
        else if (left > 0n) return null;
    }
    return least <= most ? [least, count - least] : null;
}

/** For three outcomes: the smallest whole stakes near the exact stakes that return the goal. */
function nearby(conditions, shares, count, unit, goal) {
    const [first, second] = shares.map((share) => around((share * Number(goal)) / Number(unit)));
    let best = null;
    for (const one of first) {
        for (const other of second) {
            const stakes = completed(conditions, [one, other], unit, goal);
            if (stakes !== null && (best === null || sum(stakes) < sum(best))) best = stakes;
        }
    }
    return best !== null && sum(best) <= count ? best : null;
}

function around(exact) {
    const from = Math.max(Math.trunc(exact) - NEAR, 0);
    const length = Math.trunc(exact) + NEAR + 2 - from;
    return Array.from({ length }, (_, more) => BigInt(from + more));
}

/** These stakes with the smallest stake on the last outcome that returns the goal; null if none does. */
function completed(conditions, some, unit, goal) {
    let last = 0n;
    for (const { parts, of } of conditions) {
        const left = goal * of - unit * sum(some.map((stake, at) => stake * parts[at]));
        if (left <= 0n) continue;
        if (parts[2] === 0n) return null;
        last = larger(last, ceil(left, parts[2] * unit));
    }
    return [...some, last];
}

const larger = (a, b) => (a > b ? a : b);

// Divides a total into stakes, one for each outcome, that never lose. Computes with exact numbers.

import { isPlain, leastOf } from "./covers.js";
import { ceil, fraction, sum } from "./exact.js";
import { marketOf } from "./markets.js";

const TOTALS = 100n; // sums of steps that are tried, the largest first

/**
 * The stakes on the outcomes and the least return, in cents; null if every division may lose. On a whole
 * line the result that returns all stakes does not count. Legs are `{ id, odds, commission, fee_rate }`,
 * and `market` for another market than 1X2. All legs of one entry are one market of one bookmaker, which
 * takes `commission` of the net win there, and perhaps a fee for each share. The least return is the
 * largest possible, in whole cents.
 */
export function stakes(legs, total) {
    return divided(divisionOf(legs), centsOf(total), 1n, 0n);
}

/** Whether the page can divide a total on these legs. */
export const canDivide = (legs) => divisionOf(legs).least !== null;

/**
 * Stakes in whole steps, which have `step` cents: of the hundred largest sums up to the total, the one that
 * gains most. Null if all of them may lose.
 */
export function rounded(legs, total, step) {
    const [division, unit] = [divisionOf(legs), BigInt(step)];
    const most = centsOf(total) / unit;
    let best = null;
    for (let count = most; count > 0n && count > most - TOTALS; count -= 1n) {
        best = divided(division, count, unit, best === null ? 0n : BigInt(gainOf(best)) + 1n) ?? best;
    }
    return best;
}

/** The least gain of stakes, in cents. */
export function gainOf({ amounts, returned }) {
    return returned - amounts.reduce((total, part) => total + part);
}

/** The terms of legs, and a function that returns the smallest stakes for a goal (covers.js:leastOf). */
function divisionOf(legs) {
    const [terms, market] = [termsOf(legs), marketOf(legs[0].market)];
    const plain = (count, unit, goal) => least(terms, count, unit, goal);
    return { terms, least: isPlain(market) ? plain : leastOf(market, terms) };
}

/** Stakes that sum to `count` units of `unit` cents; null if no division gains enough. */
function divided({ terms, least: leastFor }, count, unit, gain) {
    let [goal, more] = [count * unit + gain, 1n];
    let amounts = count > 0n ? leastFor(count, unit, goal) : null;
    if (amounts === null) return null;
    for (let found; (found = leastFor(count, unit, goal + more)) !== null; more *= 2n) {
        [goal, amounts] = [goal + more, found];
    }
    while ((more /= 2n) > 0n) {
        const found = leastFor(count, unit, goal + more);
        if (found !== null) [goal, amounts] = [goal + more, found];
    }
    spread(terms, amounts, count - sum(amounts));
    return { amounts: amounts.map((amount) => Number(amount * unit)), returned: Number(goal) };
}

function centsOf(total) {
    const [value, parts] = fraction(total);
    return (value * 100n) / parts;
}

/** Of a leg: the price p / q after the fee, the commission t / u, and net / of, the return of a lone 1. */
function termsOf(legs) {
    return legs.map(({ id, odds, commission, fee_rate: fee = 0 }) => {
        const [[o, d], [t, u], [f, g]] = [odds, commission, fee].map(fraction);
        const [p, q] = f > 0n ? [o * o * g, d * (o * g + f * (o - d))] : [o, d];
        const isShared = legs.filter((other) => other.id === id).length > 1;
        return { id, p, q, t, u, net: q * u + (p - q) * (u - t), of: q * u, isShared };
    });
}

/**
 * The smallest stakes in units that return `goal` cents each; null if they exceed `count`. Money that the
 * other legs do not need goes on the market with several legs: the larger its sum, the less each of its
 * legs needs.
 */
function least(terms, count, unit, goal) {
    const amounts = terms.map(({ net, of, isShared }) => (isShared ? 0n : ceil(goal * of, net * unit)));
    const staked = (count - sum(amounts)) * unit;
    terms.forEach(({ p, q, t, u, isShared }, leg) => {
        if (isShared) amounts[leg] = ceil((goal * u - t * staked) * q, p * (u - t) * unit);
    });
    return sum(amounts) <= count ? amounts : null;
}

/** Add the remaining units, one by one, to the stake with the least return. */
function spread(terms, amounts, left) {
    const every = terms.map((_, leg) => leg);
    const shared = every.filter((leg) => terms[leg].isShared);
    const places = shared.length > 0 ? shared : every;
    const returns = (leg, other) => amounts[leg] * terms[leg].net * terms[other].of;
    for (let unit = 0n; unit < left; unit += 1n) {
        const lower = (leg, other) => (returns(other, leg) < returns(leg, other) ? other : leg);
        amounts[places.reduce(lower)] += 1n;
    }
}

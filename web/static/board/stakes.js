// Divides a total into stakes, one for each outcome, that never lose. Reckons with exact numbers.

const TOTALS = 100n; // that are tried in steps, the largest first

/**
 * The stakes on the outcomes, and what is returned at least, in cents; null if every division may lose.
 * Legs are `{ id, odds, commission, fee_rate }`; all legs of one entry, thus of one bookmaker, are one
 * market, which takes `commission` of what is won there net, and perhaps a fee for each share. The smallest
 * return has as many whole cents as it can have.
 */
export function stakes(legs, total) {
    return divided(termsOf(legs), centsOf(total), 1n);
}

/**
 * Stakes in whole steps of so many cents, of the total or less: of the hundred largest sums the one that
 * gains most. Null if every one of them may lose.
 */
export function rounded(legs, total, step) {
    const [terms, unit] = [termsOf(legs), BigInt(step)];
    const most = centsOf(total) / unit;
    let best = null;
    for (let count = most; count > 0n && count > most - TOTALS; count -= 1n) {
        const found = divided(terms, count, unit);
        if (found !== null && (best === null || gainOf(found) > gainOf(best))) best = found;
    }
    return best;
}

/** Cents that stakes gain at least. */
export function gainOf({ amounts, returned }) {
    return returned - amounts.reduce((total, part) => total + part);
}

/** So many units of so many cents, all of them staked; null if every division may lose. */
function divided(terms, count, unit) {
    let low = count * unit;
    let amounts = count > 0n ? least(terms, count, unit, low) : null;
    if (amounts === null) return null;
    let high = low * terms.reduce((sum, { p, q }) => sum + p / q + 1n, 1n);
    while (high - low > 1n) {
        const middle = (low + high) / 2n;
        const found = least(terms, count, unit, middle);
        if (found === null) high = middle;
        else [low, amounts] = [middle, found];
    }
    spread(terms, amounts, count - sum(amounts));
    return { amounts: amounts.map((amount) => Number(amount * unit)), returned: Number(low) };
}

function centsOf(total) {
    const [value, parts] = fraction(total);
    return (value * 100n) / parts;
}

/** The exact value of a number or a text, as it is written: 2.1 is 21/10. */
function fraction(value) {
    const [, whole, part = "", power = "0"] = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/.exec(String(value));
    const scale = BigInt(Number(power) - part.length);
    const digits = BigInt(whole + part);
    return scale < 0n ? [digits, 10n ** -scale] : [digits * 10n ** scale, 1n];
}

/** Of each leg: price p / q after the fee, commission t / u, net / of, the return of 1 that is alone. */
function termsOf(legs) {
    return legs.map(({ id, odds, commission, fee_rate: fee = 0 }) => {
        const [[o, d], [t, u], [f, g]] = [odds, commission, fee].map(fraction);
        const [p, q] = f > 0n ? [o * o * g, d * (o * g + f * (o - d))] : [o, d];
        const isShared = legs.filter((other) => other.id === id).length > 1;
        return { p, q, t, u, net: q * u + (p - q) * (u - t), of: q * u, isShared };
    });
}

/**
 * The smallest stakes in units that return `goal` cents each; null if that takes over `count`. What the
 * other legs do not need is staked on the market with several legs: the larger its sum, the less each of
 * its legs needs.
 */
function least(terms, count, unit, goal) {
    const amounts = terms.map(({ net, of, isShared }) => (isShared ? 0n : ceil(goal * of, net * unit)));
    const staked = (count - sum(amounts)) * unit;
    terms.forEach(({ p, q, t, u, isShared }, leg) => {
        if (isShared) amounts[leg] = ceil((goal * u - t * staked) * q, p * (u - t) * unit);
    });
    return sum(amounts) <= count ? amounts : null;
}

/** Add the units that are left, one by one, to what returns least. */
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

const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0n);
const ceil = (value, by) => (value > 0n ? (value + by - 1n) / by : value / by);

// Divides a total into three stakes of whole cents that never lose. Reckons with exact numbers.

/**
 * The stakes on home, draw and away, and what is returned at least, in cents; null if every division may
 * lose. Legs are `{ id, odds, commission, fee_rate }`; all legs of one entry, thus of one bookmaker, are
 * one market, which takes `commission` of what is won there net, and perhaps a fee for each share. The
 * smallest return has as many whole cents as it can have.
 */
export function stakes(legs, total) {
    const [cents, parts] = fraction(total);
    const count = (cents * 100n) / parts;
    const terms = legs.map((leg) => termsOf(leg, legs));
    let amounts = count > 0n ? least(terms, count, count) : null;
    if (amounts === null) return null;
    let low = count;
    let high = count * (BigInt(Math.ceil(Math.max(...legs.map(({ odds }) => odds)))) + 1n);
    while (high - low > 1n) {
        const middle = (low + high) / 2n;
        const found = least(terms, count, middle);
        if (found === null) high = middle;
        else [low, amounts] = [middle, found];
    }
    spread(terms, amounts, count - sum(amounts));
    return { amounts: amounts.map(Number), returned: Number(low) };
}

/**
 * Stakes in whole steps of so many cents, each the next below or above the exact amount: those of the eight
 * that gain most, or lose least, whatever the result. `returned` is what is returned at least.
 */
export function rounded(legs, amounts, step) {
    const terms = legs.map((leg) => termsOf(leg, legs));
    const steps = amounts.map((amount) => [Math.floor(amount / step), Math.ceil(amount / step)]);
    const [home, draw, away] = steps.map((near) => near.map((count) => Math.max(count, 1) * step));
    const every = home.flatMap((first) =>
        draw.flatMap((second) => away.map((third) => [first, second, third])),
    );
    const gained = every.map((some) => {
        const cents = some.map(BigInt);
        const returns = legs.map((leg, at) => returnOf(terms, cents, at, legs));
        const returned = Number(returns.reduce((least, next) => (next < least ? next : least)));
        return { amounts: some, returned, gain: returned - some.reduce((total, part) => total + part) };
    });
    return gained.reduce((best, next) => (next.gain > best.gain ? next : best));
}

/** Whole cents that are returned if this leg wins. */
function returnOf(terms, amounts, at, legs) {
    const { p, q, t, u } = terms[at];
    const staked = sum(amounts.filter((_, leg) => legs[leg].id === legs[at].id)); // on one market
    const gross = amounts[at] * p; // by q
    if (gross <= staked * q) return gross / q; // nothing is won net
    return (gross * (u - t) + t * staked * q) / (q * u);
}

/** The exact value of a number or a text, as it is written: 2.1 is 21/10. */
function fraction(value) {
    const [, whole, part = "", power = "0"] = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/.exec(String(value));
    const scale = BigInt(Number(power) - part.length);
    const digits = BigInt(whole + part);
    return scale < 0n ? [digits, 10n ** -scale] : [digits * 10n ** scale, 1n];
}

/** Price p / q after the fee, commission t / u, and net / of, the return of a stake of 1 that is alone. */
function termsOf({ id, odds, commission, fee_rate: fee = 0 }, legs) {
    const [[o, d], [t, u], [f, g]] = [odds, commission, fee].map(fraction);
    const [p, q] = f > 0n ? [o * o * g, d * (o * g + f * (o - d))] : [o, d];
    const isShared = legs.filter((other) => other.id === id).length > 1;
    return { p, q, t, u, net: q * u + (p - q) * (u - t), of: q * u, isShared };
}

/**
 * The smallest stakes that return `goal` each; null if that takes over `count`. What the other legs do not
 * need is staked on the market with several legs: the larger its sum, the less each of its legs needs.
 */
function least(terms, count, goal) {
    const amounts = terms.map(({ net, of, isShared }) => (isShared ? 0n : ceil(goal * of, net)));
    const staked = count - sum(amounts);
    terms.forEach(({ p, q, t, u, isShared }, leg) => {
        if (isShared) amounts[leg] = ceil((goal * u - t * staked) * q, p * (u - t));
    });
    return sum(amounts) <= count ? amounts : null;
}

/** Add what is left, cent by cent, to what returns least. */
function spread(terms, amounts, left) {
    const shared = [0, 1, 2].filter((leg) => terms[leg].isShared);
    const places = shared.length > 0 ? shared : [0, 1, 2];
    const returns = (leg, other) => amounts[leg] * terms[leg].net * terms[other].of;
    for (let cent = 0n; cent < left; cent += 1n) {
        const lower = (leg, other) => (returns(other, leg) < returns(leg, other) ? other : leg);
        const lowest = places.reduce(lower);
        amounts[lowest] += 1n;
    }
}

const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0n);
const ceil = (value, by) => (value > 0n ? (value + by - 1n) / by : value / by);

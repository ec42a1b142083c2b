// Prices as they are written: decimal, fractional or American. Prices are decimal everywhere else.

export const ODDS = { decimal: "Decimal", fractional: "Fractional", american: "American" };

/** The fractions that bookmakers use, in order. */
const LADDER = (
    "1/1000 1/500 1/250 1/200 1/150 1/125 1/100 1/80 1/66 1/50 1/40 1/33 1/28 1/25 1/22 1/20 1/18 " +
    "1/16 1/14 1/12 1/11 1/10 1/9 1/8 2/15 1/7 2/13 1/6 2/11 1/5 2/9 1/4 2/7 3/10 1/3 4/11 2/5 4/9 " +
    "1/2 8/15 4/7 8/13 4/6 8/11 4/5 5/6 10/11 20/21 1/1 21/20 11/10 6/5 5/4 11/8 7/5 6/4 8/5 13/8 " +
    "17/10 7/4 9/5 15/8 19/10 2/1 21/10 11/5 9/4 12/5 5/2 13/5 11/4 14/5 3/1 16/5 10/3 7/2 18/5 4/1 " +
    "9/2 5/1 11/2 6/1 13/2 7/1 15/2 8/1 17/2 9/1 10/1 11/1 12/1 14/1 16/1 18/1 20/1 22/1 25/1 28/1 " +
    "33/1 40/1 50/1 66/1 80/1 100/1 125/1 150/1 200/1 250/1 300/1 400/1 500/1 750/1 1000/1"
)
    .split(" ")
    .map((text) => {
        const [win, stake] = text.split("/").map(Number);
        return { text, price: 1 + win / stake };
    });

/** The function that writes a decimal price. */
export function priceIn(odds) {
    return { fractional, american }[odds] ?? decimal;
}

/** Two decimals, or three where two would change the value; from 100 on without trailing zeros. */
export function decimal(value) {
    if (value >= 100) return String(Number(value.toFixed(2)));
    const text = value.toFixed(2);
    return Number(text) === value ? text : value.toFixed(3);
}

/**
 * The fraction of the ladder that wins nearest to as much; after "≈" unless the price is what it is written
 * as.
 */
export function fractional(value) {
    const isNearer = ({ price }, { price: other }) => Math.abs(price - value) < Math.abs(other - value);
    const { text, price } = LADDER.reduce((best, next) => (isNearer(next, best) ? next : best));
    const isExact = Math.abs(price - value) < (price < 1.1 ? 0.0006 : 0.0051);
    return isExact ? text : `≈${text}`;
}

/** What 100 wins, or after "−" what wins 100. */
export function american(value) {
    return value >= 2 ? `+${Math.round((value - 1) * 100)}` : `−${Math.round(100 / (value - 1))}`;
}

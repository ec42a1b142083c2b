// Writes prices: decimal, fractional or American. Everywhere else prices are decimal.

export const ODDS = { decimal: "Decimal", fractional: "Fractional", american: "American" };

const MOST_PARTS = 1000; // a price has three decimals
const MILLION = 1_000_000; // whole numbers have no rounding errors

/** A function that writes a decimal price. */
export function priceIn(odds) {
    return { fractional, american }[odds] ?? decimal;
}

/** Two decimals, or three if two would change the value; from 100 on without trailing zeros. */
export function decimal(value) {
    if (value >= 100) return String(Number(value.toFixed(2)));
    const text = value.toFixed(2);
    return Number(text) === value ? text : value.toFixed(3);
}

/**
 * The win on a stake of the second number, exactly and in lowest terms, except the usual 6/4: rounded
 * fractions would hide which of two prices is better. With "≈" for a price of more than three decimals.
 */
export function fractional(value) {
    const wins = Math.max(Math.round(value * MOST_PARTS) - MOST_PARTS, 1);
    const by = divisor(wins, MOST_PARTS);
    const text = `${wins / by}/${MOST_PARTS / by}`.replace(/^3\/2$/, "6/4");
    return (MOST_PARTS + wins) / MOST_PARTS === value ? text : `≈${text}`;
}

/** The win on 100, or after "−" the stake that wins 100, to the nearest whole number. */
export function american(value) {
    const wins = Math.round(value * MILLION) - MILLION; // for a stake of a million
    return wins >= MILLION ? `+${Math.round(wins / 10_000)}` : `−${Math.round((100 * MILLION) / wins)}`;
}

/** The greatest common divisor. */
function divisor(a, b) {
    return b === 0 ? a : divisor(b, a % b);
}

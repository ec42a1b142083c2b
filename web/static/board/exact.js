// Exact numbers: fractions of whole numbers without a limit. Pure.

/** The exact value of a written number: 2.1 is 21/10. */
export function fraction(value) {
    const [, whole, part = "", power = "0"] = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/.exec(String(value));
    const scale = BigInt(Number(power) - part.length);
    const digits = BigInt(whole + part);
    return scale < 0n ? [digits, 10n ** -scale] : [digits * 10n ** scale, 1n];
}

export const sum = (amounts) => amounts.reduce((total, amount) => total + amount, 0n);

/** The quotient by a number above zero, rounded up, or down. */
export const ceil = (value, by) => (value > 0n ? (value + by - 1n) / by : value / by);
export const floor = (value, by) => -ceil(-value, by);

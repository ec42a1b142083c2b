// Formats numbers and times. The page is in English, the times are in the reader's time zone.

const LOCALE = "en-GB";

/** The reader's time zone with its present abbreviation: "Europe/Berlin (CET)". */
export const ZONE = zone();

const clock = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat(LOCALE, { weekday: "short", day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric" });
const number = new Intl.NumberFormat(LOCALE);
const money = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Two decimals, or three where two would change the value; from 100 on without trailing zeros. */
export function price(value) {
    if (value >= 100) return String(Number(value.toFixed(2)));
    const text = value.toFixed(2);
    return Number(text) === value ? text : value.toFixed(3);
}

/** 0.0123 is 1.23 %. */
export function percent(share) {
    return `${(share * 100).toFixed(2)} %`;
}

/** A rate as it is configured: 0.02 is 2 %. */
export function rate(share) {
    return `${Number((share * 100).toPrecision(6))}\u00a0%`;
}

/** Cents as an amount. */
export function amount(cents) {
    return money.format(cents / 100);
}

export function count(value, noun) {
    return `${number.format(value)} ${noun}${value === 1 ? "" : noun.endsWith("h") ? "es" : "s"}`;
}

/** Times are Unix seconds. */
export function time(at) {
    return clock.format(at * 1000);
}

/** The day of `at`; empty if it is today. */
export function day(at) {
    const then = new Date(at * 1000);
    const now = new Date();
    if (then.toDateString() === now.toDateString()) return "";
    return Math.abs(then - now) < 180 * 86_400_000 ? date.format(then) : year.format(then);
}

/** A point in the past: the time, with its day unless that is today. */
export function moment(at) {
    return [day(at), time(at)].filter(Boolean).join(" ");
}

/** A length of time, in the largest unit that keeps it readable. */
export function duration(seconds) {
    if (seconds < 90) return `${Math.floor(seconds)} s`;
    if (seconds < 5400) return `${Math.floor(seconds / 60)} min`;
    return seconds < 129_600 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}

function zone() {
    const format = new Intl.DateTimeFormat(LOCALE, { timeZoneName: "short" });
    const { value } = format.formatToParts(new Date()).find(({ type }) => type === "timeZoneName");
    const { timeZone } = format.resolvedOptions();
    return timeZone === value ? value : `${timeZone} (${value})`;
}

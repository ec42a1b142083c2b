// Formats numbers and times. The page is in English, the times are in the reader's time zone.

const LOCALE = "en-GB";
const SHORT_DAY = { weekday: "short", day: "numeric", month: "short" };
const HALF_A_YEAR_MS = 180 * 86_400_000;

const number = new Intl.NumberFormat(LOCALE);
const money = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** 0.0123 is 1.23 %. */
export function percent(share) {
    return `${(share * 100).toFixed(2)} %`;
}

/** A configured rate: 0.02 is 2 %. */
export function rate(share) {
    return `${Number((share * 100).toPrecision(6))}\u00a0%`;
}

/** Cents as an amount. */
export function amount(cents) {
    return money.format(cents / 100);
}

/** A number with its noun, or the number alone. */
export function count(value, noun = "") {
    if (!noun) return number.format(value);
    return `${number.format(value)} ${noun}${value === 1 ? "" : noun.endsWith("h") ? "es" : "s"}`;
}

/** Writes times, which are Unix seconds, in a time zone; the system's if it is empty. */
export function clockIn(timeZone) {
    const zone = timeZone ? { timeZone } : {};
    const of = (options) => new Intl.DateTimeFormat(LOCALE, { ...options, ...zone });
    const [time, day] = [of({ hour: "2-digit", minute: "2-digit" }), of(SHORT_DAY)];
    const year = of({ day: "numeric", month: "short", year: "numeric" });
    const digits = new Intl.DateTimeFormat("sv", { dateStyle: "short", ...zone });
    const dateOf = (at) => digits.format(at * 1000);
    const isToday = (at) => dateOf(at) === dateOf(Date.now() / 1000);
    const dayOf = (at) => {
        if (isToday(at)) return "";
        return Math.abs(at * 1000 - Date.now()) < HALF_A_YEAR_MS
            ? day.format(at * 1000)
            : year.format(at * 1000);
    };
    return {
        zone: nameOf(of({ timeZoneName: "short" })),
        time: (at) => time.format(at * 1000),
        /** Like 2026-11-26. */
        date: dateOf,
        /** Empty if it is today. */
        day: dayOf,
        /** Also today's. */
        dayName: (at) => [isToday(at) ? "Today," : "", dayOf(at) || day.format(at * 1000)].join(" ").trim(),
        /** The time, with its day unless that is today. */
        moment: (at) => [dayOf(at), time.format(at * 1000)].filter(Boolean).join(" "),
    };
}

/** The name of a time zone with its current abbreviation: "Europe/Berlin (CET)". */
function nameOf(format) {
    const { value } = format.formatToParts(new Date()).find(({ type }) => type === "timeZoneName");
    const { timeZone } = format.resolvedOptions();
    return timeZone === value ? value : `${timeZone} (${value})`;
}

const system = clockIn("");

/** The system's time zone, and a point in the past in it. */
export const ZONE = system.zone;
export const moment = system.moment;

/** A length of time, in the largest unit that keeps it readable. */
export function duration(seconds) {
    if (seconds < 90) return `${Math.floor(seconds)} s`;
    if (seconds < 5400) return `${Math.floor(seconds / 60)} min`;
    return seconds < 129_600 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}

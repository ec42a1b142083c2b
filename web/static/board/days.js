// The days on which matches begin, in the reader's time zone, and matches in play. Pure.

const DAY_S = 86_400;
const PLAYED_S = 3 * 3600; // a match without a word from sources counts as over then

/** The "day" of matches in play. */
export const NOW = "now";

/** Whether a match is in play, by a source or by its kick-off; `now` in Unix seconds. */
export function isPlayed({ inPlay, start }, now) {
    return inPlay ?? (start !== null && start <= now && now < start + PLAYED_S);
}

/**
 * The days to choose from, `{ value, title }`: all, in play with the number of matches, today, tomorrow,
 * and each later day like 2026-11-26.
 */
export function daysOf(matches, clock, now) {
    const starts = new Map();
    for (const { start } of matches) {
        if (start === null) continue;
        const date = clock.date(start);
        if (!starts.has(date)) starts.set(date, start);
    }
    const near = dateOf("tomorrow", clock, now);
    const later = [...starts].filter(([date]) => date > near).sort(([a], [b]) => (a > b) - (a < b));
    return [
        { value: "", title: "All" },
        { value: NOW, title: `In play ${matches.filter((match) => isPlayed(match, now)).length}` },
        { value: "today", title: "Today" },
        { value: "tomorrow", title: "Tomorrow" },
        ...later.map(([date, start]) => ({ value: date, title: clock.dayName(start) })),
    ];
}

/** A function that returns whether a match is on that day; matches in play count as today's. */
export function isOn(day, clock, now) {
    if (!day) return () => true;
    if (day === NOW) return (match) => isPlayed(match, now);
    const date = dateOf(day, clock, now);
    return (match) =>
        (match.start !== null && clock.date(match.start) === date) ||
        (day === "today" && isPlayed(match, now));
}

function dateOf(day, clock, now) {
    if (day === "today") return clock.date(now);
    if (day === "tomorrow") return dayAfter(now, clock);
    return day;
}

/** The next day, which begins 23, 24 or 25 hours after this one. */
function dayAfter(now, clock) {
    const today = clock.date(now);
    const [year, month, day] = today.split("-").map(Number);
    return new Date((Date.UTC(year, month - 1, day) / 1000 + DAY_S) * 1000).toISOString().slice(0, 10);
}

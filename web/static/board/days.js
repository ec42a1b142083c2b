// The days on which matches begin, in the reader's time zone. Pure.

const DAY_S = 86_400;

/** The days of the matches to choose from, `{ value, title }`: today, tomorrow, and each as 2026-11-26. */
export function daysOf(matches, clock) {
    const starts = new Map();
    for (const { start } of matches) {
        if (start === null) continue;
        const date = clock.date(start);
        if (!starts.has(date)) starts.set(date, start);
    }
    const near = new Set(["today", "tomorrow"].map((day) => dateOf(day, clock)));
    const later = [...starts].filter(([date]) => !near.has(date)).sort(([a], [b]) => (a > b) - (a < b));
    return [
        { value: "today", title: "Today" },
        { value: "tomorrow", title: "Tomorrow" },
        ...later.map(([date, start]) => ({ value: date, title: clock.dayName(start) })),
    ];
}

/** The function that says whether a match is on that day. */
export function isOn(day, clock) {
    if (!day) return () => true;
    const date = dateOf(day, clock);
    return ({ start }) => start !== null && clock.date(start) === date;
}

function dateOf(day, clock) {
    const now = Date.now() / 1000;
    if (day === "today") return clock.date(now);
    if (day === "tomorrow") return dayAfter(now, clock);
    return day;
}

/** The next day, which begins in 23, 24 or 25 hours at most. */
function dayAfter(now, clock) {
    const today = clock.date(now);
    const [year, month, day] = today.split("-").map(Number);
    return new Date((Date.UTC(year, month - 1, day) / 1000 + DAY_S) * 1000).toISOString().slice(0, 10);
}

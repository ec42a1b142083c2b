// How prices moved, made of an answer of /api/v2/lines: values by time for a chart, figures for a table.

export const FAIR = "fair";

/**
 * The courses of an outcome: each bookmaker's prices, and last the fair price where there is a consensus.
 * Each has `values` at all `times` (Unix seconds); null where it had no price.
 */
export function coursesOf({ lines, consensus, to_time: end }, outcome) {
    const courses = lines.map((line) => courseOf(line, outcome));
    if (consensus?.points.length) courses.push(fairOf(consensus, outcome));
    const ends = courses.flatMap(({ points }) => points.map(({ time }) => time));
    const times = [...new Set([...ends, end])].sort((one, other) => one - other);
    const valued = courses.map((course) => ({ ...course, values: along(times, course.points) }));
    return { times, courses: valued };
}

function courseOf({ id, bookmaker, points, first_seen: first, highest, lowest }, outcome) {
    const { absent = null, reason = "", time = 0 } = points.at(-1) ?? {};
    return {
        key: id, // a bookmaker may have had two entries of the match
        bookmaker,
        points: points.map(({ time, odds }) => ({ time, value: odds?.[outcome] ?? null })),
        first: first?.odds?.[outcome] ?? null,
        highest: highest[outcome]?.odds ?? null,
        lowest: lowest[outcome]?.odds ?? null,
        left: absent && { absent, reason, time },
    };
}

function fairOf({ points: every }, outcome) {
    const priceOf = (fair) => (fair?.[outcome] ? 1 / fair[outcome] : null);
    const points = every.map(({ time, fair }) => ({ time, value: priceOf(fair) }));
    const prices = points.map(({ value }) => value).filter((value) => value !== null);
    const [first = null] = prices;
    const [highest, lowest] = first === null ? [null, null] : [Math.max(...prices), Math.min(...prices)];
    return { key: FAIR, points, first, highest, lowest, newest: points.at(-1).value, left: null };
}

/** The value of the last point up to each time; null before the first. */
function along(times, points) {
    let [next, value] = [0, null];
    return times.map((time) => {
        while (next < points.length && points[next].time <= time) value = points[next++].value;
        return value;
    });
}

/** Why a bookmaker has no price now, in words. */
export function reasonOf({ absent, reason }) {
    if (absent === "suspended") return "suspended";
    if (absent === "gap") return "not known: the archive has a gap";
    return reason ? `off the board (${reason.replaceAll("_", " ")})` : "off the board";
}

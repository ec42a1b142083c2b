// What moved most, in words: the rows of the shown matches, or why there are none. Pure.

import { moversKey } from "./movers.js";

/** The times to look back, in seconds, and their names. */
export const WINDOWS = new Map([
    [900, "15 minutes"],
    [3600, "hour"],
    [21_600, "6 hours"],
    [86_400, "24 hours"],
]);

const NONE = "–";
const FAILED = ["Moves cannot be read now", "This page keeps trying."];
const READING = ["Reading", "The moves appear in a moment."];
const FAIR = "A fair price needs three live bookmakers of the match.";

/** A market has one line; the main lines of all matches are several. */
export const canMove = ({ line, hasLines }) => !hasLines || line !== null;

/**
 * `rows` for the matches among `matches` that moved, the largest move first; `empty` is `[title, text]` if
 * there are none, otherwise null; `when` says of which time they are.
 */
export function movesOf(movers, choice, matches, { market, clock, price, minute }) {
    const known = movers.key === moversKey(choice) ? movers : { status: "unknown", answer: null };
    const { status, answer } = known;
    const byId = new Map(matches.map((match) => [match.key, match]));
    const found = answer?.fixtures.filter(({ id }) => byId.has(id)) ?? [];
    const rows = found.map((fixture) => {
        const match = byId.get(fixture.id);
        const start = startOf(match, clock, minute);
        return { key: match.key, match, start, ...moveOf(fixture, answer, market, clock, price) };
    });
    return {
        rows,
        empty: rows.length > 0 ? null : emptinessOf(known, choice, market),
        when: answer === null ? "" : whenOf(answer, status, clock),
    };
}

/** The kick-off, and whether it is over: then goals move the prices. */
function startOf({ start, inPlay }, clock, minute) {
    const at = start === null ? "no time" : clock.moment(start);
    if (inPlay) return `${at}, in play`;
    return start !== null && start <= minute * 60 && inPlay !== false ? `${at}, started` : at;
}

function moveOf(fixture, { from_time: begin }, market, clock, price) {
    const { outcome, move, fair_before: before, fair_now: now, since_time: since } = fixture;
    const [compared, first] = ["compared", "first"].map((mark) =>
        fixture.bookmakers.filter((entry) => entry[mark]),
    );
    const names = first.map(({ name }) => name).join(", ");
    const fair = (chance) => price(Number((1 / chance).toFixed(2)));
    const share = (chance) => (chance * 100).toFixed(1);
    return {
        outcome: market.outcomes.find(({ key }) => key === outcome)?.spoken ?? outcome,
        isUp: move > 0,
        fair: `${fair(before[outcome])} → ${fair(now[outcome])}`,
        move: `${move > 0 ? "+" : "−"}${share(Math.abs(move))} points`,
        chances: `${share(before[outcome])} % → ${share(now[outcome])} %`,
        since: since > begin + 60 ? `since ${clock.moment(since)}` : "", // there was no fair price before
        first: names || NONE,
        firstAt: first.length > 0 ? clock.moment(first[0].followed_at) : "",
        followed: `${compared.filter((entry) => entry.followed_at !== null).length} of ${compared.length}`,
    };
}

function whenOf({ from_time: from, to_time: to }, status, clock) {
    const span = `Fair prices, which are not offers, from ${clock.moment(from)} to ${clock.moment(to)}.`;
    return status === "failed" ? `${span} Newer moves cannot be read now.` : span;
}

function emptinessOf({ status, answer }, { movers }, market) {
    if (!canMove(market)) return ["Choose a line", "The page shows the moves of one line at a time."];
    if (status === "none") {
        return ["Moves are not known", "This service keeps no archive, which would have earlier prices."];
    }
    if (answer === null) return status === "failed" ? FAILED : READING;
    if (answer.fixtures.length > 0) return ["No move fits the filter", "Other matches moved."];
    const last = `in the last ${WINDOWS.get(movers)}`;
    return ["Nothing moved", `No fair chance changed by a point or more ${last}. ${FAIR}`];
}

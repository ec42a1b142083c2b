// The widths and heights of the list's rows. Pure.

import { offerOf } from "./best.js";

const CARDS = 640; // in a narrower list each match is a card
const ROOM = 1000; // from this width on the best prices also stay in view
const MANY = 8; // from this many bookmakers on each has one narrow column, with its prices below each other
const WIDTHS = {
    wide: { fixed: 292, best: 264, offer: 186 },
    compact: { fixed: 280, best: 156, offer: 66 },
};
const FACTS = 3; // lines beside the legs of a surebet
const LINES = 40; // the width of a line
const HEIGHTS = { heading: 30, match: 46, line: 20, around: 8, card: 72, leg: 22, facts: 46, offer: 34 };
const MARKET = 38; // further lines of a card that names its market: the market, and ages below the legs

/**
 * For the width of the list: `name` is "wide", "compact" or "stacked", `isBest` whether there is a column
 * of best prices, `room` whether it stays in view; `width` is a row's least width, null for none. Narrow
 * columns are wider if the marks of outcomes have lines.
 */
export function layoutOf(clientWidth, columns, { hasLines = false } = {}) {
    const isBest = columns.length > 1;
    if (clientWidth < CARDS) return { name: "stacked", isBest, room: "little", width: null };
    const name = columns.length < MANY ? "wide" : "compact";
    const { fixed, best, offer } = WIDTHS[name];
    const marks = name === "compact" && hasLines ? LINES : 0;
    const room = clientWidth < ROOM && name === "wide" ? "little" : "enough";
    return { name, isBest, room, width: fixed + (isBest ? best + marks : 0) + offer * columns.length };
}

/**
 * The top of each row, and the bottom of the last. `outcomes` is the number of the market's outcomes. The
 * height of an unfolded card (`opened`) depends on the number of offers. With `isAny`, for all markets, the
 * height of a surebet's card depends on its legs.
 */
export function topsOf(rows, how) {
    const tops = [0];
    for (const row of rows) tops.push(tops.at(-1) + heightOf(row, how));
    return tops;
}

function heightOf({ key, match, isSurebet }, { name, columns, opened, outcomes, isAny }) {
    if (match === undefined) return HEIGHTS.heading;
    if (isAny && name === "stacked") {
        return HEIGHTS.around + HEIGHTS.leg * match.market.outcomes.length + HEIGHTS.facts + MARKET;
    }
    const legs = HEIGHTS.around + HEIGHTS.leg * Math.max(outcomes, FACTS);
    if (isSurebet) return legs + (name === "stacked" ? HEIGHTS.facts : 0);
    if (name === "wide") return HEIGHTS.match;
    if (name === "compact") return HEIGHTS.around + HEIGHTS.line * outcomes;
    if (!opened.includes(key)) return HEIGHTS.card;
    const offers = columns.filter((column) => offerOf(match, column)).length;
    return HEIGHTS.card + HEIGHTS.around + HEIGHTS.offer * offers;
}

export const HEADING = HEIGHTS.heading;

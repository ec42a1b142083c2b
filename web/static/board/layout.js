// How wide and high the rows of the list are. Pure.

import { offerOf } from "./best.js";
import { OUTCOMES } from "./board.js";

const CARDS = 640; // narrower than this each match is a card
const ROOM = 1000; // from this width on the best prices stay in view, too
const MANY = 8; // from so many bookmakers on each has one narrow column, with its prices below each other
const WIDTHS = {
    wide: { fixed: 292, best: 264, offer: 186 },
    compact: { fixed: 280, best: 156, offer: 66 },
};
const HEIGHTS = { heading: 30, match: 46, line: 20, around: 8, card: 72, leg: 22, facts: 46, offer: 34 };

/**
 * For the width of the list: `name` is "wide", "compact" or "stacked", `isBest` says whether there is a
 * column of best prices, `room` whether it stays in view; `width` is the least of a row, null for none.
 */
export function layoutOf(clientWidth, columns) {
    const isBest = columns.length > 1;
    if (clientWidth < CARDS) return { name: "stacked", isBest, room: "little", width: null };
    const name = columns.length < MANY ? "wide" : "compact";
    const { fixed, best, offer } = WIDTHS[name];
    const room = clientWidth < ROOM && name === "wide" ? "little" : "enough";
    return { name, isBest, room, width: fixed + (isBest ? best : 0) + offer * columns.length };
}

/** The height of a row; that of a card which is unfolded (`opened`) depends on how many offer the match. */
export function heightOf({ key, match, isSurebet }, { name, columns, opened }) {
    if (match === undefined) return HEIGHTS.heading;
    const legs = HEIGHTS.around + HEIGHTS.leg * OUTCOMES.length;
    if (isSurebet) return legs + (name === "stacked" ? HEIGHTS.facts : 0);
    if (name === "wide") return HEIGHTS.match;
    if (name === "compact") return HEIGHTS.around + HEIGHTS.line * OUTCOMES.length;
    if (!opened.includes(key)) return HEIGHTS.card;
    const offers = columns.filter((column) => offerOf(match, column)).length;
    return HEIGHTS.card + HEIGHTS.around + HEIGHTS.offer * offers;
}

export const HEADING = HEIGHTS.heading;

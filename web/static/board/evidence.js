// The links of a match (/api/v2/fixtures/ID) in words.

import { duration } from "./format.js";

const RULES = {
    first: "the others are compared to it",
    must: "the operator says so",
    same: "both names are the same, and the kick-off",
    same_names: "both names are the same, and the kick-off",
    moved: "both names are the same, the kick-off was moved",
    day_moved: "both names are the same, the day was moved",
    one_alike: "one name is the same, one alike",
    alike_moved: "the names are alike, the kick-off was moved",
    both_alike: "both names are alike",
};
const NAMES = {
    equal: "equal",
    table: "two spellings of one team",
    given: "an alias of the operator",
};
const LEAGUES = {
    same: "the same",
    unknown: "not known to be the same",
    unclear: "labelled differently",
    different: "different",
};

/** The rule of a link. */
export function ruleOf({ rule }) {
    return RULES[rule] ?? rule;
}

/** The evidence for and against a link when it was made, as `[what, finding]`. */
export function findingsOf({ evidence, to }) {
    if (evidence === null) return [];
    const { home, away, kickoff_delta_s: delta, league, price_gap: gap } = evidence;
    return [
        ["Compared with", to[0]],
        ["Home", nameOf(home)],
        ["Away", nameOf(away)],
        ["Kick-off", delta === null ? "unknown" : kickOffOf(delta)],
        ["League", LEAGUES[league] + countryOf(evidence)],
        ["Prices", gap === null ? "not compared" : `${(gap * 100).toFixed(1)} points apart at most`],
    ];
}

function nameOf({ likeness, similarity, how }) {
    if (likeness < 0) return "another team";
    return NAMES[how] ?? `${(similarity * 100).toFixed(0)} % alike`;
}

/** `delta` is the other event's kick-off minus this event's, in seconds. */
function kickOffOf(delta) {
    return delta === 0 ? "the same" : `${duration(Math.abs(delta))} ${delta > 0 ? "earlier" : "later"}`;
}

function countryOf({ country }) {
    return { 1: ", of one country", "-1": ", of two countries" }[country] ?? "";
}

// The rules of this browser, each about one match: as they are kept, and in words. Pure.

import { percent } from "./format.js";
import { marketOf, spokenOf } from "./markets.js";

/** How many rules a browser keeps, and about how many markets: each follows a stream of its own. */
export const MOST_RULES = 50;
export const MOST_MARKETS = 3;

const KEPT_S = 86_400; // after the kick-off
const TEXTS = ["fixture", "market", "outcome", "bookmaker", "at", "home", "away"];

/**
 * The text that keeps a rule: the id of its `fixture`, `market`, `outcome` (empty for a surebet), the id
 * of a `bookmaker` and its name `at` (both empty for any), `least` (a price, or a profit as a share), the
 * names `home` and `away`, and `start` (Unix seconds, null if unknown).
 */
export function textOf(rule) {
    const kept = [...TEXTS, "least", "start"];
    return JSON.stringify(Object.fromEntries(kept.map((name) => [name, rule[name]])));
}

/** The rules of these texts, each with its `text`; not those of other releases or of matches long over. */
export function rulesOf(texts, now) {
    return texts.flatMap((text) => {
        const rule = parsed(text);
        const isOver = rule?.start != null && rule.start < now - KEPT_S;
        return rule === null || isOver ? [] : [Object.freeze({ ...rule, text })];
    });
}

function parsed(text) {
    try {
        const rule = JSON.parse(text);
        const isWhole = TEXTS.every((name) => typeof rule[name] === "string");
        const isNumeric =
            Number.isFinite(rule.least) && (rule.start === null || Number.isFinite(rule.start));
        const keys = marketOf(rule.market)?.outcomes.map(({ key }) => key) ?? [];
        return isWhole && isNumeric && ["", ...keys].includes(rule.outcome) && keys.length > 0
            ? rule
            : null;
    } catch {
        return null;
    }
}

/** What a rule waits for, in words; `price` writes a price. */
export function wordsOf({ market, outcome, least, at }, price) {
    const what = outcome
        ? `${spokenOf({ market, outcome })} at ${price(least)}`
        : `surebet of ${percent(least)}`;
    return `${what} or more${at && (outcome ? ` at ${at}` : ` with a bet at ${at}`)}`;
}

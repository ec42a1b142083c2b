// A rule of the service as TOML, to paste into its configuration (docs/rules.md). Pure.

import { USUAL_MARKET } from "./markets.js";

const MOST_CHARACTERS = 128; // of a filter
const MOST_OF_NAME = 32;
const OF_AWAY = ["2", "away"];

/**
 * The table of a rule about a match (board.js): of the price of an `outcome`, or of a surebet if that is
 * empty; at a `bookmaker`, any if that is empty; from `least` on (a price, or a profit as a share).
 */
export function tomlOf(match, { outcome, bookmaker, least }) {
    const team = teamOf(match, outcome);
    const filters = { team, league: match.leagueId, market: match.market.key, outcome, bookmaker };
    if (filters.market === USUAL_MARKET) delete filters.market;
    const isPossible = ([, text]) => text !== "" && [...text].length <= MOST_CHARACTERS;
    return [
        "[[alert]]",
        `name = ${quoted(nameOf(team, match, { outcome, bookmaker, least }))}`,
        `when = ${quoted(outcome ? "price" : "surebet")}`,
        ...Object.entries(filters)
            .filter(isPossible)
            .map(([key, text]) => `${key} = ${quoted(text)}`),
        `${outcome ? "above" : "min_profit"} = ${least}`,
        'to = ["phone"]  # ids of your receivers',
    ].join("\n");
}

/** The team whose matches the rule is about: the service's rules name a team, not a match. */
export function teamOf({ home, away }, outcome) {
    return OF_AWAY.includes(outcome) ? away : home;
}

/**
 * A text as a TOML string of a configuration, where a dollar sign is doubled. A character that is not
 * visible, or turns the direction of the text, is escaped.
 */
function quoted(text) {
    const doubled = text.toWellFormed().replaceAll("$", "$$$$");
    return `"${doubled.replace(/["\\]|(?! )[\p{C}\p{Z}]/gu, escaped)}"`;
}

function escaped(character) {
    if (character === '"' || character === "\\") return `\\${character}`;
    const digits = character.codePointAt(0).toString(16).toUpperCase();
    return digits.length > 4 ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
}

/** A name of a-z, 0-9 and "-", made of what the rule is about. */
function nameOf(team, match, { outcome, bookmaker, least }) {
    const plain = (text) =>
        text
            .normalize("NFKD")
            .replace(/\p{M}/gu, "")
            .toLowerCase()
            .replace(/[^a-z0-9]+/g, "-")
            .replace(/^-|-$/g, "");
    const end = plain([outcome || "surebet", bookmaker, least].join(" "));
    const begin = plain(team) || plain(match.key);
    const room = MOST_OF_NAME - end.length - 1;
    return plain(`${begin.slice(0, Math.max(room, 0))}-${end}`).slice(0, MOST_OF_NAME);
}

// The sentences of the page: notices above the list, and why the list is empty. Pure.

import { condition } from "./condition.js";
import { count, duration } from "./format.js";
import { ANY_MARKET, marketOf, USUAL_MARKET } from "./markets.js";

const NO_SUREBETS = "Surebets appear here as soon as there are some.";
const NONE_OF_MARKET = "No bookmaker has prices of this market now. Choose another market.";

/** The notices by the id of their place; an empty text shows none. */
export function noticesOf({ board, health: { checks, links } }, bookmakers) {
    const simulated = ({ id }) => checks[id]?.simulated ?? false;
    const isAny = board.matches.length > 0;
    const isShown = ({ id }) => isAny && checks[id]?.status !== "fail"; // no prices while it is down
    const collected = (bookmaker) =>
        isShown(bookmaker) && checks[bookmaker.id]?.prices === "collected" && !simulated(bookmaker);
    return {
        simulated: noticeOf(bookmakers, simulated, "are simulated or recorded. They are not real offers."),
        collected: noticeOf(bookmakers, collected, "were collected earlier. They may have changed since."),
        unlinked: unlinkedOf(links),
    };
}

function noticeOf(bookmakers, isMeant, text) {
    const meant = bookmakers.filter(isMeant);
    if (meant.length === 0) return "";
    const names = meant.map(({ name }) => name).join(", ");
    return `${meant.length === bookmakers.length ? "All prices here" : `The prices of ${names}`} ${text}`;
}

function unlinkedOf(links) {
    if (links?.status !== "warn") return "";
    const isBusy = links.state === "running" && links.pending > 0;
    const why = isBusy ? `${count(links.pending, "match")} not yet linked` : "New links are not made now";
    return `${why}: one match may stand in several rows.`;
}

/**
 * The condition of the shown bookmakers, `{ level, text }` (condition.js); null while the text of the
 * connection is more important.
 */
export function overallOf({ health, isChecked }, trust, bookmakers, clock) {
    if (trust !== "live") return null;
    if (bookmakers.length === 0) return { level: "warn", text: "No bookmaker is shown." };
    if (!isChecked) return { level: "warn", text: "The state of the bookmakers is not known now." };
    const known = bookmakers.filter(({ id }) => health.checks[id] !== undefined);
    const checks = Object.fromEntries(known.map(({ id }) => [id, health.checks[id]]));
    const status = known.every(({ id }) => checks[id].status === "fail") ? "fail" : "warn";
    return condition({ checks, links: health.links, status }, { at: clock.moment });
}

/** The state of the connection in a few words; "live" only while prices can be live. */
export function labelOf({ connection: { age, hasFailed }, isComparing }, trust, overall) {
    const old = age === null ? "" : duration(age / 1000);
    const isLive = !["fail", "starting"].includes(overall?.level);
    return {
        none: hasFailed ? "No connection" : isComparing ? "Comparing" : "Connecting",
        live: `${isLive ? "Live" : "Connected"} · ${old} old`,
        doubtful: `Not live · ${old} old`,
        gone: `No connection for ${old}`,
    }[trust];
}

export function warningOf(trust) {
    const warnings = {
        doubtful: "The connection is lost. These prices are not live.",
        gone: "The connection is lost. Prices are hidden until it is back.",
    };
    return warnings[trust] ?? "";
}

/** Why no match is shown, as `[title, text]`; null if there are matches. */
export function emptinessOf(state, trust, matches) {
    if (matches.length > 0) return null;
    if (trust === "none") return unreadOf(state);
    if (trust !== "live") return ["Not connected", "The current odds are not known."];
    const isFiltered = state.board.matches.length > 0;
    if (isFiltered && state.choice.surebets) {
        return ["No surebet fits the filter", NO_SUREBETS];
    }
    if (isFiltered) return ["No match fits the filter", "Other matches have odds."];
    const { market } = state.choice;
    if (market === ANY_MARKET) return ["There is no surebet now", NO_SUREBETS];
    if (market !== USUAL_MARKET) return [`${marketOf(market).title}: no prices`, NONE_OF_MARKET];
    return Object.values(state.health.checks).some(({ status }) => status !== "fail")
        ? ["There are no matches now", "Matches appear here as soon as a bookmaker has them."]
        : ["No bookmaker is live", "Prices appear as soon as one is live. The monitor has the reasons."];
}

function unreadOf({ connection, isChecked, isComparing }) {
    if (!connection.hasFailed && isComparing) {
        return ["Comparing", "The odds of all bookmakers are being compared. They appear in a moment."];
    }
    if (!connection.hasFailed) return ["Connecting", "The odds appear in a moment."];
    return isChecked
        ? ["The stream cannot be read", "The service answers. This page keeps trying."]
        : ["The service cannot be reached", "This page keeps trying."];
}

// What the page says in sentences: notices above the list, and why the list is empty. Pure.

import { count, duration } from "./format.js";

const NAMED = 3; // bookmakers in a sentence

/** The notices by the id of their place; without a text there is none. */
export function noticesOf({ board, health: { checks, links } }, bookmakers) {
    const simulated = ({ id }) => checks[id]?.simulated ?? false;
    const isAny = board.matches.length > 0;
    const collected = ({ id }) => isAny && checks[id]?.prices === "collected" && !simulated({ id });
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

/** Whether all is right as `{ grade, text }`, and if not, what; null while the connection says more. */
export function overallOf({ health: { checks, links }, isChecked }, trust, bookmakers, clock) {
    if (trust !== "live") return null;
    if (!isChecked) return { grade: "warn", text: "The state of the bookmakers is not known now." };
    const shown = bookmakers.map(({ id, name }) => ({ ...checks[id], name }));
    const down = shown.filter(({ status }) => status === "fail");
    const late = shown.filter(({ status }) => status === "warn");
    if (down.length === shown.length) return { grade: "fail", text: noneOf(down, clock) };
    if (down.length > 0) return { grade: "warn", text: someOf(down, shown, "down", clock) };
    if (late.length > 0) return { grade: "warn", text: someOf(late, shown, "late", clock) };
    if (links?.status === "warn") return { grade: "warn", text: "Not all matches are linked." };
    return { grade: "pass", text: `All is right: ${count(shown.length, "bookmaker")}.` };
}

function noneOf(down, clock) {
    if (down.length === 0) return "No bookmaker is shown.";
    const isStarting = ({ state, last_error }) => state === "starting" && last_error === null;
    if (down.every(isStarting)) return "The bookmakers are starting.";
    const since = down.map((check) => check.since).filter(Boolean);
    const from = since.length === down.length ? ` since ${clock.moment(Math.max(...since))}` : "";
    return `No bookmaker is live${from}: there are no prices.`;
}

function someOf(meant, shown, what, clock) {
    const [{ name, since }] = meant;
    const from = since === null ? "" : ` since ${clock.moment(since)}`;
    const well = count(shown.length - meant.length);
    const rest = `${well} of ${count(shown.length, "bookmaker")} are all right.`;
    if (meant.length === 1) return `${name} is ${what}${from}; ${rest}`;
    const names = meant.slice(0, NAMED).map((check) => check.name);
    const others = meant.length > NAMED ? ` and ${count(meant.length - NAMED)} more` : "";
    return `${names.join(", ")}${others} are ${what}; ${rest}`;
}

/** The connection in a few words; it is called live only while prices can be. */
export function labelOf({ age, hasFailed }, trust, overall) {
    const old = age === null ? "" : duration(age / 1000);
    return {
        none: hasFailed ? "No connection" : "Connecting",
        live: `${overall?.grade === "fail" ? "Connected" : "Live"} · ${old} old`,
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
        return ["No surebet fits the filter", "Surebets appear here as soon as there are some."];
    }
    if (isFiltered) return ["No match fits the filter", "There are odds of other matches."];
    return Object.values(state.health.checks).some(({ status }) => status !== "fail")
        ? ["There are no matches now", "Matches appear here as soon as a bookmaker has them."]
        : ["No bookmaker is live", "Prices appear as soon as one is. The monitor says why none is."];
}

function unreadOf({ connection, isChecked }) {
    if (!connection.hasFailed) return ["Connecting", "The odds appear in a moment."];
    return isChecked
        ? ["The stream cannot be read", "The service answers. This page keeps trying."]
        : ["The service cannot be reached", "This page keeps trying."];
}

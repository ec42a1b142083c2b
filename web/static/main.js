// The board page: shows the stream and /health as rows, buttons, notices and details.

import { Board } from "./board.js";
import { Bookmakers } from "./bookmakers.js";
import { Chosen } from "./chosen.js";
import { currentId, Details } from "./details.js";
import { byId, setText } from "./dom.js";
import { Filters } from "./filters.js";
import { ZONE, count, duration } from "./format.js";
import { Health } from "./health.js";
import "./odds-board.js";
import { Stream } from "./stream.js";

const GONE_MS = 30_000; // prices are hidden after so long without an event
const REFRESH_MS = 60_000;
const ASK_AGAIN_MS = 1000; // after an offer went

const grid = document.querySelector("odds-board");
const board = new Board();
const filters = new Filters(location.search);
const buttons = new Bookmakers(byId("bookmakers"), (bookmaker) => {
    filters.toggle(bookmaker);
    filtered();
});
const chosen = new Chosen(() => changed());
const details = new Details(() => {
    choose("");
    grid.focus();
});
const stream = new Stream("api/v2/stream?view=fixtures", {
    onList(list) {
        board.replace(list.fixtures);
        changed();
        const asked = filters.fixture;
        if (asked && !board.match(asked)) {
            currentId(asked).then((now) => now !== asked && filters.fixture === asked && choose(now));
        }
    },
    onChanges({ fixtures, removed }) {
        const isLost = board.change(fixtures, removed);
        const now = followed(filters.fixture, removed);
        if (now !== filters.fixture) choose(now);
        changed();
        if (isLost && performance.now() - askedAt > ASK_AGAIN_MS) {
            askedAt = performance.now();
            health.ask();
        }
    },
    onState() {
        health.ask();
        look();
        changed();
    },
});
const health = new Health((answer) => {
    isChecked = answer !== null;
    checks = answer?.checks ?? checks;
    links = answer?.links ?? links;
    changed();
});

let askedAt = -Infinity;
let checks = {}; // the last answer of /health: all bookmakers, and which of them are simulated
let links = null; // the linker, from the same answer
let isChecked = false; // whether it answered the last request
let shown = {}; // what the grid last got: it is filled again only when this changes
let wasTrusted = null;

/** The match that a match was merged into, through several merges; itself if it was not. */
function followed(key, removed) {
    const next = new Map(removed.map(({ id, into }) => [id, into]));
    for (let into = next.get(key); into; into = next.get(key)) {
        next.delete(key); // so that this ends
        key = into;
    }
    return key;
}

/** Whether the prices are live: "none" before the first. */
function trust() {
    if (stream.age === null) return "none";
    if (stream.isLive) return "live";
    return stream.age < GONE_MS ? "doubtful" : "gone";
}

/** All bookmakers: those of /health in its order, then any that are in the stream only. */
function bookmakers() {
    const ids = new Set([...Object.keys(checks), ...board.names.keys()]);
    return [...ids].map((id) => ({ id, name: board.names.get(id) ?? checks[id].name }));
}

/** Ask for the surebets of the chosen bookmakers; those of the address may be unknown. */
function askChosen() {
    const ids = bookmakers().map(({ id }) => id);
    const isNeeded = trust() === "live" && board.sorted.some(({ surebet }) => surebet !== null);
    chosen.ask(new Set(ids.filter((id) => filters.bookmakers.has(id))), isNeeded);
}

/** The surebet of a match at the shown bookmakers, null for none. */
const surebetOf = (match) => chosen.surebetOf(match);

let pending = 0;
function changed() {
    pending ||= requestAnimationFrame(() => {
        pending = 0;
        draw();
    });
}

function draw() {
    const all = bookmakers();
    askChosen();
    const columns = all.filter(({ id }) => filters.shows(id));
    const key = JSON.stringify([filters.query, columns, trust(), chosen.stamp]);
    if (shown.sorted !== board.sorted || shown.key !== key) {
        const areKnown = trust() === "live" || !filters.surebets; // a surebet counts only while it is live
        const matches = areKnown ? filters.apply(board.sorted, surebetOf) : [];
        grid.show(rowsOf(matches), columns, trust());
        shown = { key, sorted: board.sorted, matches };
        showLeagues();
    }
    grid.refresh();
    showDetails();
    showSurebets();
    buttons.show(all, isChecked ? checks : {}, filters);
    showCount();
    showEmpty();
    showNotices(all);
    look();
}

function rowsOf(matches) {
    const rows = [];
    let header = { league: null };
    for (const match of matches) {
        if (match.league !== header.league) {
            header = { key: `league ${match.league}`, league: match.league, count: 0 };
            header.header = header.key;
            rows.push(header);
        }
        header.count += 1;
        rows.push({ key: match.key, match, surebet: surebetOf(match), header: header.key });
    }
    return rows;
}

/** Before the first list it is not known whether a match is there. */
function showDetails() {
    const isKnown = filters.fixture && stream.age !== null;
    const match = isKnown ? board.match(filters.fixture) : null;
    const shows = (bookmaker) => filters.shows(bookmaker);
    details.show(match, board.names, trust(), { surebet: match ? surebetOf(match) : null, shows });
}

function showSurebets() {
    const found = trust() === "live" ? board.sorted.filter((match) => surebetOf(match) !== null).length : 0;
    setText(byId("surebet-count"), String(found));
    byId("surebets").ariaPressed = String(filters.surebets);
}

function showLeagues() {
    const select = byId("league");
    const leagues = [...new Set(board.sorted.map(({ league }) => league))];
    if (filters.league && !leagues.includes(filters.league)) leagues.push(filters.league);
    const options = ["", ...leagues];
    if (options.join("\n") !== [...select.options].map(({ value }) => value).join("\n")) {
        select.replaceChildren(...options.map((value) => new Option(value || "All leagues", value)));
    }
    select.value = filters.league;
}

function showCount() {
    const [some, all] = [shown.matches.length, board.sorted.length];
    setText(byId("count"), some === all ? count(all, "match") : `${some} of ${count(all, "match")}`);
}

function showEmpty() {
    const reason = emptiness();
    byId("empty").hidden = reason === null;
    grid.hidden = reason !== null;
    byId("clear").hidden = filters.isEmpty || board.size === 0;
    if (reason === null) return;
    const [title, text] = byId("empty").children;
    setText(title, reason[0]);
    setText(text, reason[1]);
}

function emptiness() {
    if (shown.matches.length > 0) return null;
    if (stream.age === null) {
        if (!stream.hasFailed) return ["Connecting", "The odds appear in a moment."];
        return isChecked
            ? ["The stream cannot be read", "The service answers. This page keeps trying."]
            : ["The service cannot be reached", "This page keeps trying."];
    }
    if (!stream.isLive) return ["Not connected", "The current odds are not known."];
    if (board.size > 0 && filters.surebets) {
        return ["No surebet fits the filter", "Surebets appear here as soon as there are some."];
    }
    if (board.size > 0) return ["No match fits the filter", "There are odds of other matches."];
    return Object.values(checks).some(({ status }) => status !== "fail")
        ? ["There are no matches now", "Matches appear here as soon as a bookmaker has them."]
        : ["No bookmaker is live", "Prices appear as soon as a bookmaker is live."];
}

/** Simulated prices, and prices collected earlier, are always shown with a notice. */
function showNotices(all) {
    const simulated = ({ id }) => checks[id]?.simulated;
    const collected = ({ id }) => checks[id]?.prices === "collected" && !simulated({ id });
    showNotice("simulated", all, simulated, "are simulated or recorded. They are not real offers.");
    showNotice("collected", all, collected, "were collected earlier. They may have changed since.");
    byId("unlinked").hidden = links?.status !== "warn";
    const isBusy = links?.state === "running" && links.pending > 0;
    const why = isBusy ? `${count(links.pending, "match")} not yet linked` : "New links are not made now";
    setText(byId("unlinked"), `${why}: one match may stand in several rows.`);
}

function showNotice(id, all, isMeant, text) {
    const meant = all.filter(isMeant);
    byId(id).hidden = meant.length === 0;
    const names = meant.map(({ name }) => name).join(", ");
    const subject = meant.length === all.length ? "All prices here" : `The prices of ${names}`;
    setText(byId(id), `${subject} ${text}`);
}

/** Show what depends on the time; called every second. */
function look() {
    const now = trust();
    const age = stream.age === null ? "" : duration(stream.age / 1000);
    const labels = {
        none: stream.hasFailed ? "No connection" : "Connecting",
        live: `Live · ${age} old`,
        doubtful: `Not live · ${age} old`,
        gone: `No connection for ${age}`,
    };
    const warnings = {
        doubtful: "The connection is lost. These prices are not live.",
        gone: "The connection is lost. Prices are hidden until it is back.",
    };
    setText(byId("connection"), labels[now]);
    byId("connection").dataset.trust = now;
    byId("retry").hidden = stream.untilRetry === null;
    byId("warning").hidden = warnings[now] === undefined;
    setText(byId("warning"), warnings[now] ?? "");
    askChosen();
    showDetails(); // its ages
    if (now !== wasTrusted) {
        announce(now);
        changed();
    }
}

function announce(now) {
    const words = {
        live: wasTrusted === "none" ? "" : "Live again.",
        doubtful: "The connection is lost. Prices are not live.",
        gone: "Prices are hidden until the connection is back.",
    };
    setText(byId("announcement"), words[now] ?? "");
    wasTrusted = now;
}

/** Show the details of the match with this id; none if it is empty. */
function choose(key) {
    filters.fixture = grid.chosen = key;
    remember();
    draw();
}

function remember() {
    history.replaceState(null, "", `${location.pathname}${filters.query}`);
}

function filtered() {
    grid.scrollTop = 0;
    remember();
    draw();
    setText(byId("announcement"), byId("count").textContent);
}

function listen() {
    const [league, text] = [byId("league"), byId("text")];
    text.value = filters.text;
    setText(byId("zone"), `Times in ${ZONE}`);
    let typing = 0;
    text.addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(() => {
            filters.text = text.value;
            filtered();
        }, 120);
    });
    league.addEventListener("change", () => {
        filters.league = league.value;
        filtered();
    });
    byId("surebets").addEventListener("click", () => {
        filters.surebets = !filters.surebets;
        filtered();
    });
    grid.addEventListener("choose", ({ detail }) => {
        choose(detail);
        byId("details").focus();
    });
    grid.chosen = filters.fixture;
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("clear").addEventListener("click", () => {
        filters.clear();
        text.value = "";
        filtered();
    });
    byId("retry").addEventListener("click", () => stream.reconnect());
    addEventListener("keydown", (event) => {
        if (event.key !== "/" || event.target.matches("input, select")) return;
        event.preventDefault();
        text.focus();
    });
}

listen();
draw();
setInterval(look, 1000);
document.addEventListener("visibilitychange", look);
setInterval(() => {
    board.outdate();
    grid.rewrite();
    changed();
}, REFRESH_MS);
await health.start(); // first, so that simulated prices always have their notice
stream.start();

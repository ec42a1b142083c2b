// The columns of the tables of /monitor. An error has its own row below.

import { Quantiles, Trend } from "./charts.js";
import { byId, setText } from "./dom.js";
import { count, duration, moment } from "./format.js";
import { Table } from "./table.js";

const MAX_REJECTED = 100; // rows

const text = (title, from, className) => ({ title, className, text: (item) => String(from(item) ?? "–") });
const number = (title, from) => text(title, from, "number");
const wide = (title, from) => text(title, from, "wide");
const time = (at) => (at === null ? "–" : moment(at));
const age = (at, now) => (at === null ? "–" : duration(Math.max(now - at, 0)));
const listed = (words) => words.filter(Boolean).join(", ") || "–";
const rejectedNow = (found) =>
    listed(Object.entries(found).map(([reason, { count: times }]) => `${reason} ${times}`));
const reasons = (counts) => listed(Object.entries(counts).map(([reason, times]) => `${reason} ${times}`));
const error = (item) => item.last_error ?? "";

const state = {
    title: "State",
    fill(cell, item) {
        const isFailing = item.state === "starting" && item.last_error; // down, as in the first line
        setText(cell, isFailing ? "starting, failing" : item.state);
        cell.className = "state";
        cell.dataset.state = isFailing ? "down" : item.state;
    },
};

/** A column with a chart in each row; `add` adds the new value to the chart. */
function chart(title, Chart, add) {
    const charts = new WeakMap();
    return {
        title,
        fill(cell, item) {
            if (!charts.has(cell)) {
                charts.set(cell, new Chart());
                cell.append(charts.get(cell).element);
            }
            add(charts.get(cell), item);
        },
    };
}

const bookmakers = new Table(
    byId("bookmakers"),
    [
        text("Bookmaker", (item) => item.name),
        state,
        text("Since", (item) => time(item.since)),
        number("Matches", (item) => item.matches),
        number("Confirmed", (item) => age(item.confirmed_at, item.now)),
        number("Newest price", (item) => age(item.changed_at, item.now)),
        chart("Changes", Trend.bind(null, "/s"), (trend, item) => trend.add(item.rates.changes_per_s)),
        chart("Latency", Quantiles, (quantiles, item) => quantiles.show(item.latency_ms)),
        wide("Lists", (item) => listsOf(item.lists)),
        wide("Rejected now", (item) => rejectedNow(item.rejected_now)),
        text("Source", (item) => item.source),
        wide("Offer", offerOf),
        wide("Rejected since the start", (item) => reasons(item.rejected)),
    ],
    error,
);
const sources = new Table(
    byId("sources"),
    [
        text("Source", (item) => item.name),
        state,
        wide("Kind", kindOf),
        text("Last success", (item) => time(item.last_success_at)),
        text("Next attempt", (item) => time(item.next_attempt_at)),
        wide("Credits", (item) => creditsOf(item.quota)),
        wide("Scopes", (item) => scopesOf(item.scopes)),
        number("Attempts", (item) => item.attempts),
        number("Failures in a row", (item) => item.failures_in_a_row),
        number("Failures", (item) => item.failures),
        wide("Failures by reason", (item) => reasons(item.failed_by)),
        number("Received", (item) => `${(item.received_bytes / 1e6).toFixed(1)} MB`),
    ],
    error,
);
const actors = new Table(
    byId("actors"),
    [
        text("supervisor", (item) => item.name, "branch"),
        state,
        text("Since", (item) => time(item.since)),
        number("Restarts", (item) => item.restarts),
        number("Crashes", (item) => item.crashes),
        text("Backoff until", (item) => time(item.backoff_until)),
        number("Mailbox", (item) => item.mailbox_depth),
    ],
    error,
);

const rejected = new Table(byId("rejected"), [
    text("Match", (item) => `${item.home || "?"} – ${item.away || "?"}`),
    text("Bookmaker", (item) => item.bookmaker),
    text("Reason", (item) => item.reason),
    number("1", (item) => item.prices[0]),
    number("X", (item) => item.prices[1]),
    number("2", (item) => item.prices[2]),
    number("Sum of 1/price", (item) => sumOf(item.prices)),
    text("Rejected at", (item) => time(item.at)),
    text("Id", (item) => item.match_id),
    text("List", (item) => item.scope),
]);
const paths = new Table(byId("paths"), [
    text("Path", (item) => item.key),
    number("Answers", (item) => answersOf(item, 100, 599)),
    number("Not modified", (item) => item.answers[304] ?? 0),
    number("Refused (4xx)", (item) => answersOf(item, 400, 499)),
    number("Failed (5xx)", (item) => answersOf(item, 500, 599)),
]);
function offerOf({ offered_by, fees, delayed_s: late }) {
    return listed([offered_by, fees !== "none" && `fees ${fees}`, late > 0 && `up to ${late} s late`]);
}

function kindOf({ kind, simulated, prices }) {
    const isSimulated = simulated && kind !== "simulated";
    return listed([kind, isSimulated && "simulated", prices === "collected" && "collected prices"]);
}

function listsOf(lists) {
    const all = Object.values(lists);
    const withdrawn = all.filter((list) => list.withdrawn).length;
    const doubted = all.filter((list) => list.doubted).length;
    const remarks = [withdrawn && `${withdrawn} withdrawn`, doubted && `${doubted} doubted`];
    return listed([count(all.length, "list"), ...remarks]);
}

function scopesOf(scopes) {
    const all = Object.entries(scopes);
    const failing = all.filter(([, scope]) => scope.failures_in_a_row > 0).map(([name]) => name);
    return failing.length > 0 ? `${all.length}, failing: ${failing.join(", ")}` : String(all.length);
}

/** The rest of a source's budget: of its key, and of the day's plan. */
function creditsOf(quota) {
    if (quota === null) return null;
    const { requests_remaining: left, credits_left_today: today, credits_per_day: planned } = quota;
    return listed([isKnown(left) && `${left} left`, isKnown(today) && `today ${today} of ${planned}`]);
}

function answersOf({ answers }, first, last) {
    const some = Object.entries(answers).filter(([status]) => first <= status && status <= last);
    return some.reduce((sum, [, times]) => sum + times, 0);
}

/** The paths; all files of pages are one path. */
function pathsOf(answers) {
    const byPath = new Map();
    for (const [path, some] of Object.entries(answers)) {
        const key = path.startsWith("/static/") ? "/static/" : path;
        const sum = byPath.get(key) ?? {};
        for (const [status, times] of Object.entries(some)) sum[status] = (sum[status] ?? 0) + times;
        byPath.set(key, sum);
    }
    return [...byPath].map(([key, sum]) => ({ key, answers: sum }));
}

/** The book sum; a dash if a price is no number above zero. */
function sumOf(prices) {
    const sum = prices.reduce((total, price) => total + (price > 0 ? 1 / price : NaN), 0);
    return Number.isFinite(sum) ? sum.toFixed(3) : null;
}

/** Rejected matches of which only the id is known. */
function namelessOf({ rejected_now: now, rejected_newest: newest }) {
    const known = new Set(newest.map(({ match_id: id }) => id));
    const unknown = { at: null, scope: "–", home: "", away: "", prices: [null, null, null] };
    return Object.entries(now).flatMap(([reason, { match_ids: ids }]) =>
        ids.filter((id) => !known.has(id)).map((id) => ({ ...unknown, match_id: id, reason })),
    );
}

/** The last rejected matches of all bookmakers, newest first, then those with only an id. */
function rejectedOf({ bookmakers: all }) {
    const found = all.flatMap((of) =>
        [...of.rejected_newest, ...namelessOf(of)].map((match) => ({ ...match, bookmaker: of.name })),
    );
    found.sort((a, b) => b.at - a.at);
    const keyOf = ({ bookmaker, scope, match_id: id }) => JSON.stringify([bookmaker, scope, id]);
    return found.slice(0, MAX_REJECTED).map((match) => ({ ...match, key: keyOf(match) }));
}

const isKnown = (value) => value !== null && value !== undefined;
const keyed = (items, key, now) => items.map((item) => ({ ...item, key: item[key], now }));

/** Show the records of an answer of /monitor. */
export function showTables(monitor) {
    bookmakers.show(keyed(monitor.bookmakers, "id", monitor.now));
    sources.show(keyed(monitor.sources, "name", monitor.now));
    actors.show(keyed(monitor.actors, "name", monitor.now));
    const newest = rejectedOf(monitor);
    rejected.show(newest);
    byId("rejected").parentNode.hidden = newest.length === 0;
    byId("no-rejected").hidden = newest.length > 0;
    paths.show(pathsOf(monitor.http.answers));
}

// The page of /monitor: shows the JSON of the same path, repeated while the page is visible.

import { Quantiles, Trend } from "./charts.js";
import { byId, element, setText } from "./dom.js";
import { ZONE, count, duration, moment } from "./format.js";
import { Table } from "./table.js";

const EVERY_MS = 2000;
const PATIENCE_MS = 4000;
const LATE_S = 10; // older values are shown as old

const time = (at) => (at === null ? "–" : moment(at));
const reasons = (counts) => listed(Object.entries(counts).map(([reason, times]) => `${reason} ${times}`));
const listed = (words) => words.filter(Boolean).join(", ") || "–";
const text = (title, from, className) => ({ title, className, text: (item) => String(from(item) ?? "–") });
const number = (title, from) => text(title, from, "number");
const error = text("Last error", (item) => item.last_error, "error");

const state = {
    title: "State",
    fill(cell, item) {
        setText(cell, item.state);
        cell.className = "state";
        cell.dataset.state = item.state;
    },
};

/** A column with a chart in each row; `add` gives the chart its new value. */
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

const bookmakers = new Table(byId("bookmakers"), [
    text("Bookmaker", (item) => item.name),
    text("Source", (item) => item.source),
    state,
    text("Since", (item) => time(item.since)),
    number("Matches", (item) => item.matches),
    chart("Batches", Trend.bind(null, "/s"), (trend, item) => trend.add(item.rates.batches_per_s)),
    chart("Changes", Trend.bind(null, "/s"), (trend, item) => trend.add(item.rates.changes_per_s)),
    chart("Latency", Quantiles, (quantiles, item) => quantiles.show(item.latency_ms)),
    number("Measured", (item) => item.latency_ms.count),
    text("Rejected", (item) => reasons(item.rejected)),
    text("Lists", (item) => listsOf(item.lists)),
    error,
]);
const actors = new Table(byId("actors"), [
    text("supervisor", (item) => item.name, "branch"),
    state,
    text("Since", (item) => time(item.since)),
    number("Restarts", (item) => item.restarts),
    number("Crashes", (item) => item.crashes),
    text("Backoff until", (item) => time(item.backoff_until)),
    number("Mailbox", (item) => item.mailbox_depth),
    error,
]);
const sources = new Table(byId("sources"), [
    text("Source", (item) => item.name),
    text("Kind", kindOf),
    state,
    number("Attempts", (item) => item.attempts),
    number("Failures", (item) => item.failures),
    number("Failures in a row", (item) => item.failures_in_a_row),
    text("Failures by reason", (item) => reasons(item.failed_by)),
    text("Last success", (item) => time(item.last_success_at)),
    text("Next attempt", (item) => time(item.next_attempt_at)),
    number("Received", (item) => `${(item.received_bytes / 1e6).toFixed(1)} MB`),
    text("Scopes", (item) => scopesOf(item.scopes)),
    error,
]);

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

/** How often the event loop was blocked, and for how long at most. */
function blocked({ stalls, longest_s }) {
    if (stalls === 0) return "never";
    return listed([count(stalls, "time"), longest_s && `at most ${duration(longest_s)}`]);
}

function showService(monitor) {
    const facts = {
        Started: moment(monitor.started_at),
        Running: duration(Date.now() / 1000 - monitor.started_at),
        Version: `${monitor.version}-${monitor.epoch}`,
        State: monitor.draining ? "draining" : "serving",
        Blocked: blocked(monitor.loop),
        "Times in": ZONE,
    };
    showFacts(byId("service"), facts);
}

/** Write facts by name into a list, which is made again only for other names. */
function showFacts(list, facts) {
    const names = [...list.children].map((row) => row.firstChild.textContent);
    if (names.join("\n") !== Object.keys(facts).join("\n")) {
        const rows = Object.keys(facts).map((name) =>
            element("div", "", {}, element("dt", "", {}, name), element("dd")),
        );
        list.replaceChildren(...rows);
    }
    Object.values(facts).forEach((fact, index) => setText(list.children[index].lastChild, String(fact)));
}

const NOT_YET = "Not counted yet: the command oddsboard links stats has them counted.";

/** Before a survey it is not known what is not linked, and what is said by hand of nothing. */
function showFixtures({ fixtures, linked, surebets, links, surveyed_version, abstentions, absent }) {
    showFacts(byId("fixtures"), { Fixtures: fixtures, "Of several sources": linked, Surebets: surebets });
    showFacts(byId("links"), orNone(links, "All rules"));
    showFacts(byId("abstentions"), abstentions === null ? {} : orNone(abstentions, "All reasons"));
    setText(byId("surveyed"), abstentions === null ? NOT_YET : `As of version ${surveyed_version}.`);
    const missing = absent ?? [];
    byId("absent").hidden = missing.length === 0;
    setText(byId("absent"), `The file of links names what is not on the board: ${missing.join(", ")}`);
}

const orNone = (counts, name) => (Object.keys(counts).length > 0 ? counts : { [name]: 0 });

const keyed = (items, key) => items.map((item) => ({ ...item, key: item[key] }));

let answeredAt = null;
let isAsking = false;

async function ask() {
    if (isAsking || document.hidden) return;
    isAsking = true;
    try {
        const headers = { Accept: "application/json" };
        const response = await fetch("monitor", { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
        const monitor = await response.json();
        showService(monitor);
        showFixtures(monitor.fixtures);
        bookmakers.show(keyed(monitor.bookmakers, "id"));
        actors.show(keyed(monitor.actors, "name"));
        sources.show(keyed(monitor.sources, "name"));
        answeredAt = Date.now();
    } catch (failure) {
        console.warn("no answer:", failure.message);
    } finally {
        isAsking = false;
        look();
    }
}

function look() {
    const age = (Date.now() - answeredAt) / 1000;
    const isLate = answeredAt === null || age > LATE_S;
    const label = isLate ? `No answer for ${duration(age)}` : `${duration(age)} old`;
    setText(byId("connection"), answeredAt === null ? "No answer yet" : label);
    byId("connection").dataset.trust = isLate ? "gone" : "live";
    byId("warning").hidden = !isLate;
    setText(byId("warning"), isLate ? "The service does not answer. These values are old." : "");
    document.querySelector("main").classList.toggle("late", isLate);
}

setInterval(ask, EVERY_MS);
setInterval(look, 1000);
document.addEventListener("visibilitychange", ask);
await ask();

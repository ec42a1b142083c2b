// The page of /monitor: shows the JSON of the same path, repeated while the page is visible.

import { condition } from "./condition.js";
import { byId, setText } from "./dom.js";
import { showFacts } from "./facts.js";
import { ZONE, count, duration, moment } from "./format.js";
import { showJournal } from "./journal.js";
import { showTables } from "./monitor-tables.js";

const EVERY_MS = 2000;
const PATIENCE_MS = 4000;
const LATE_S = 10; // older values are shown as old
const OLD = "The values below are old.";

function showCondition({ level, text, reason }) {
    byId("condition").dataset.level = level;
    setText(byId("condition"), text);
    byId("reason").hidden = reason === "";
    setText(byId("reason"), reason);
}

function showService(monitor) {
    const { status, reason } = monitor.ready;
    showFacts(byId("service"), {
        "Ready for clients": status === "pass" ? "yes" : `no: ${reason}`,
        "Newest price": newestOf(monitor),
        Running: `${duration(monitor.now - monitor.started_at)}, since ${moment(monitor.started_at)}`,
        Release: monitor.release,
        "Version of the board": `${monitor.version}-${monitor.epoch}`,
        "Event loop blocked": blocked(monitor.loop),
        "Times in": ZONE,
    });
}

/** The age of the newest price of all bookmakers. */
function newestOf({ bookmakers, sources, now }) {
    const times = bookmakers.map(({ changed_at }) => changed_at).filter((at) => at !== null);
    if (times.length > 0) return `${duration(Math.max(now - Math.max(...times), 0))} old`;
    return sources.some(({ state }) => state === "elsewhere") ? "received elsewhere" : "none yet";
}

/** How often the event loop was blocked, and for how long at most. */
function blocked({ stalls, longest_s }) {
    if (stalls === 0) return "never";
    const most = longest_s === null ? "" : `, at most ${duration(longest_s)}`;
    return count(stalls, "time") + most;
}

/** In a cluster: each source's collector, and the lag of this process. The matcher's lease is `@links`. */
function showCluster({ cluster }) {
    byId("in-cluster").hidden = !cluster;
    if (!cluster) return;
    const leases = Object.entries(cluster.leases);
    const own = leases.filter(([, collector]) => collector === cluster.collector).map(([source]) => source);
    const others = leases.filter(([source]) => !own.includes(source)).map((lease) => lease.join(": "));
    const behind = `${count(cluster.lag_versions, "version")}, ${cluster.lag_s} s`;
    showFacts(byId("cluster"), {
        Roles: cluster.roles.join(", "),
        "Name as a collector": cluster.collector ?? "none",
        "Collects here": own.join(", ") || "nothing",
        "Others collect": others.join(", ") || "nothing",
        Behind: cluster.lag_s === null ? "no board yet" : behind,
        "Began anew": count(cluster.resets, "time"),
    });
}

/** The clients' requests and streams, and their errors. */
function showClients({ http, log }) {
    const errors = Object.entries(http.client_errors).map(([kind, times]) => `${kind} ${times}`);
    showFacts(byId("clients"), {
        "Following now": http.streams,
        Answers: http.answers_total,
        Sent: `${(http.body_bytes / 1e6).toFixed(1)} MB`,
        "Clients remembered": http.clients,
        "Asked too often": http.throttled,
        "Turned away": http.turned_away,
        "Errors of clients": errors.join(", ") || "none",
        "Lost lines of the log": log.dropped + log.failed,
    });
}

const NOT_YET = "Not counted yet: run oddsboard links stats to count them.";

/** Before a survey, unlinked events and unused lines of the file of links are unknown. */
function showFixtures({ fixtures, linked, surebets, links, surveyed_version, abstentions, absent }) {
    showFacts(byId("fixtures"), { Fixtures: fixtures, "With several sources": linked, Surebets: surebets });
    showFacts(byId("links"), orNone(links, "All rules"));
    showFacts(byId("abstentions"), abstentions === null ? {} : orNone(abstentions, "All reasons"));
    setText(byId("surveyed"), abstentions === null ? NOT_YET : `As of version ${surveyed_version}.`);
    const missing = absent ?? [];
    byId("absent").hidden = missing.length === 0;
    setText(byId("absent"), `In the file of links, but not on the board: ${missing.join(", ")}`);
}

const orNone = (counts, name) => (Object.keys(counts).length > 0 ? counts : { [name]: 0 });

let answeredAt = null;
let hasFailed = false; // since the last answer
let isAsking = false;

async function ask() {
    if (isAsking || document.hidden) return;
    isAsking = true;
    try {
        const headers = { Accept: "application/json" };
        const response = await fetch("monitor", { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
        const monitor = await response.json();
        showCondition(condition(monitor.health, monitor));
        showService(monitor);
        showCluster(monitor.health);
        showTables(monitor);
        showClients(monitor);
        showFixtures(monitor.fixtures);
        showJournal(monitor); // has its own answer, which may come later
        answeredAt = Date.now();
        hasFailed = false;
    } catch (failure) {
        hasFailed = true;
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
    byId("connection").dataset.trust = isLate ? "gone" : "none"; // the condition has the green mark
    document.querySelector("main").classList.toggle("late", isLate);
    if (isLate && hasFailed) showCondition({ ...condition(null), reason: answeredAt ? OLD : "" });
}

setInterval(ask, EVERY_MS);
setInterval(look, 1000);
document.addEventListener("visibilitychange", ask);
await ask();

// The condition of the service in one sentence: whether something is wrong, what, and since when. Pure.

import { count, moment } from "./format.js";

const NAMED = 3; // bookmakers that a sentence names; further ones are counted
const NO_ANSWER = { level: "fail", text: "The service does not answer.", reason: "" };
const STOPPING = { level: "warn", text: "The service is being stopped.", reason: "" };

/** Possible faults of bookmakers, the worst first; `since` begins with a space or a comma. */
const FAULTS = {
    down: ({ names, has, since }) => `${names} ${has} been down${since}`,
    quarantined: ({ names, has, since }) => `${names} ${has} been in quarantine after crashes${since}`,
    retrying: ({ names, has, since }) => `${names} ${has} failed to answer${since}`,
    suspect: ({ names, has, since }) => `${names} ${has} sent doubtful lists${since}`,
    ended: ({ names, has, since }) => `${names} ${has} shown a recording that is over${since}`,
    unwell: ({ names, is }) => `${names} ${is} not live`,
    missing: ({ names, is }) => `${names} ${is} in no answer of the source`,
    starting: ({ names, has }) => `${names} ${has} not answered yet`,
};

/**
 * Return the condition of the service, `{ level, text, reason }`, from an answer of /health (null: none).
 *
 * `level` is "pass", "starting" (nothing is wrong yet), "warn" (prices of some bookmakers are missing or
 * may soon be, or the archive, the cluster or the alerts have a fault) or "fail" (there are no prices).
 * `text` is one sentence. `reason` is the last error of the first thing that it names, "" without one.
 * `health` may also be the field of that name in /monitor, where only `draining` says that the service is
 * being stopped. `at` writes a time in the past.
 *
 * A page shows it as `<p class="condition" data-level="LEVEL">TEXT</p>`, with condition.css. A page that
 * says "Live" because its stream is open says so only while `level` is neither "fail" nor "starting".
 */
export function condition(health, { draining = false, at = moment } = {}) {
    if (health === null) return NO_ANSWER;
    if (draining) return STOPPING;
    const checks = Object.values(health.checks);
    if (health.status === "fail") return withoutPrices(checks, health.cluster, at);
    const faults = Object.keys(FAULTS)
        .map((fault) => ({ fault, of: checks.filter((check) => faultOf(check) === fault) }))
        .filter(({ of }) => of.length > 0);
    const parts = faults.map(({ fault, of }) => FAULTS[fault](wordsOf(of, at)));
    const { links, archive, cluster, alerts } = health;
    const others = [[links, linksOf], [archive, archiveOf], [cluster, clusterOf], [alerts, alertsOf]];
    const unwell = others.filter(([check]) => check?.status === "warn");
    parts.push(...unwell.map(([check, wordsFor]) => wordsFor(check, at)));
    if (parts.length === 0) return { level: "pass", text: allWell(checks), reason: "" };
    const level = parts.length === 1 && faults[0]?.fault === "starting" ? "starting" : "warn";
    const first = faults[0]?.of ?? unwell.map(([check]) => check);
    return { level, text: sentence(parts), reason: errorOf(first) };
}

function withoutPrices(checks, cluster, at) {
    const down = checks.filter((check) => faultOf(check) === "down");
    if (cluster?.status === "warn") return withoutCluster(down, cluster, at);
    if (down.length === 0) return { level: "starting", text: "No bookmaker has answered yet.", reason: "" };
    const last = Math.max(...down.map(({ since }) => since));
    const text = `No bookmaker has been up since ${at(last)}.`;
    return { level: "fail", text, reason: errorOf(down) };
}

/** In a cluster, nothing is known without the server or the collectors, even if sources work. */
function withoutCluster(down, cluster, at) {
    const last = Math.max(...down.map(({ since }) => since));
    const since = down.length === 0 ? "is shown" : `has been up since ${at(last)}`;
    const text = sentence([`${clusterOf(cluster)}: no bookmaker ${since}`]);
    return { level: "fail", text, reason: cluster.last_error };
}

/** One of `FAULTS`, or null. A live bookmaker that does not pass is one whose key no answer has. */
function faultOf({ status, state, last_error }) {
    if (status === "pass") return null;
    if (status === "fail") return state === "starting" && last_error === null ? "starting" : "down";
    if (state === "live") return "missing";
    return state in FAULTS ? state : "unwell";
}

const errorOf = (checks) => checks.find(({ last_error }) => last_error)?.last_error ?? "";

function wordsOf(checks, at) {
    const isSeveral = checks.length > 1;
    const verbs = { has: isSeveral ? "have" : "has", is: isSeveral ? "are" : "is" };
    return { names: namesOf(checks), since: sinceOf(checks, at), ...verbs };
}

function namesOf(checks) {
    const names = checks.map(({ name }) => name);
    if (names.length > NAMED) names.splice(NAMED - 1, names.length, `${names.length - NAMED + 1} others`);
    return [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");
}

/** The common time of the checks, or the earliest. */
function sinceOf(checks, at) {
    const times = checks.map(({ since }) => since);
    const [first, last] = [at(Math.min(...times)), at(Math.max(...times))];
    return first === last ? ` since ${first}` : `, the first since ${first}`;
}

function linksOf({ state, pending, since }, at) {
    const isOff = ["quarantined", "abandoned"].includes(state);
    if (isOff) return `no new links have been made since ${at(since)}`;
    return `${count(pending, "match")} ${pending === 1 ? "is" : "are"} not linked yet`;
}

function archiveOf({ last_error, gaps, lag_s }) {
    if (last_error !== null) return "the archive cannot be written";
    if (gaps > 0) return `the archive has ${count(gaps, "gap")} since the start`;
    return `the archive is ${Math.round(lag_s)} s late`;
}

function clusterOf({ silent, last_error }) {
    if (silent.length > 0) return "a collector is silent";
    if (last_error?.startsWith("the board began anew")) return "the board of the cluster began anew";
    if (last_error?.startsWith("the server may drop")) return "the shared server may drop data";
    return "the shared server does not answer, or refuses";
}

function alertsOf({ down, dropped }) {
    const verb = down.length > 1 ? "are" : "is";
    if (down.length > 0) return `${count(down.length, "receiver")} of alerts ${verb} down`;
    if (dropped > 0) return `${count(dropped, "alert")} could not be delivered since the start`;
    return "the queue of alerts cannot be written";
}

function allWell(checks) {
    const names = checks.length === 1 ? `${checks[0].name} is` : `all ${checks.length} bookmakers are`;
    return `All is well: ${names} up.`;
}

/** Begin the sentence with a capital, unless it begins with a bookmaker's name. */
function sentence(parts) {
    const begins = /^no new|^the (archive|shared|board|queue)|^a collector/;
    return `${parts.join("; ")}.`.replace(begins, capital);
}

const capital = (words) => words[0].toUpperCase() + words.slice(1);

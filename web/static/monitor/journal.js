// What happened to sources, bookmakers and the service, newest first: the events of /monitor/events.

import { byId, element, setText } from "./dom.js";
import { moment } from "./format.js";
import { Table } from "./table.js";

const PATIENCE_MS = 6000; // the service waits for the archive for 5 s
const PAGE = 500; // events in an answer
const MOST_NAMES = 3;

const text = (title, from, className = "") => ({ title, className, text: from });
const table = new Table(byId("events"), [
    text("Time", ({ at }) => moment(at)),
    text("Level", ({ level }) => level, "level"),
    text("About", ({ about }) => about),
    text("Event", ({ event }) => event),
    text("Why", whyOf, "details"),
]);

const known = new Map(); // the events about the chosen subject, by key
let shownFor = null; // the newest event in /monitor when they were read
let isAsking = false;

/** The fields of an event, without the actor, and without those that only repeat what it is about. */
function whyOf({ fields, subject }) {
    const told = Object.entries(fields).filter(([name, value]) => name !== "actor" && value !== subject);
    return told.map((field) => field.join(": ")).join(" · ");
}

/** The bookmakers that an event names, if they are few; otherwise its subject. */
function aboutOf({ subject, bookmakers }, names) {
    const few = bookmakers.length > 0 && bookmakers.length <= MOST_NAMES ? bookmakers : [subject];
    return few.map((id) => names.get(id) ?? id).join(", ");
}

/** Offer the bookmakers, the sources and the other subjects of events; the choice stays. */
function offer({ bookmakers, sources }, subjects) {
    const taken = new Set([...bookmakers.map(({ id }) => id), ...sources.map(({ name }) => name)]);
    const others = subjects.filter((name) => !taken.has(name));
    const groups = [
        ["Bookmakers", bookmakers.map(({ id, name }) => [id, name])],
        ["Sources", sources.map(({ name }) => [name, name])],
        ["Others", others.map((name) => [name, name])],
    ].filter(([, options]) => options.length > 0);
    const chooser = byId("subject");
    const offered = JSON.stringify(groups);
    if (chooser.dataset.offered === offered) return;
    const chosen = chooser.value;
    const option = ([value, name]) => element("option", "", { value }, name);
    const made = groups.map(([label, options]) =>
        element("optgroup", "", { label }, ...options.map(option)),
    );
    chooser.replaceChildren(option(["", "All"]), ...made);
    chooser.dataset.offered = offered;
    chooser.value = chosen;
    if (chooser.selectedIndex < 0) chooser.value = "";
}

function keptOf({ kept, since }) {
    const where =
        kept === "archive"
            ? "Kept for two weeks with the archive."
            : "There is no archive: these are in memory since the start, 1,000 at most.";
    return since === null ? where : `${where} The oldest is of ${moment(since)}.`;
}

async function ask(monitor, before = null) {
    const subject = byId("subject").value;
    const parameters = new URLSearchParams();
    if (subject) parameters.set("subject", subject);
    if (before !== null) parameters.set("to", String(Math.ceil(before)));
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(`monitor/events?${parameters}`, { signal });
    if (!response.ok) throw new Error(String(response.status));
    const answer = await response.json();
    if (subject !== byId("subject").value) return false; // another one was chosen meanwhile
    show(answer, monitor);
    if (known.size <= PAGE || before !== null) byId("older").hidden = answer.events.length < PAGE;
    return true;
}

function show(answer, monitor) {
    offer(monitor, answer.subjects);
    const names = new Map(monitor.bookmakers.map(({ id, name }) => [id, name]));
    for (const event of answer.events) {
        const key = JSON.stringify(event);
        known.set(key, { ...event, key, about: aboutOf(event, names) });
    }
    table.show([...known.values()].sort((a, b) => b.at - a.at));
    byId("no-events").hidden = known.size > 0;
    byId("events").parentNode.hidden = known.size === 0;
    setText(byId("kept"), keptOf(answer));
}

async function tried(asking) {
    if (isAsking) return;
    isAsking = true;
    try {
        await asking();
    } catch (failure) {
        setText(byId("kept"), "The events cannot be read now. This is tried again.");
        console.warn("no events:", failure.message);
    } finally {
        isAsking = false;
    }
}

/** Show the events if there may be newer ones than those shown; `monitor` is an answer of /monitor. */
export async function showJournal(monitor) {
    byId("subject").onchange = () => {
        known.clear();
        table.show([]);
        setText(byId("kept"), "Reading the events.");
        shownFor = null;
        showJournal(monitor);
    };
    byId("older").onclick = () =>
        tried(() => ask(monitor, Math.min(...[...known.values()].map(({ at }) => at))));
    const newest = JSON.stringify([monitor.started_at, monitor.events.at(-1)]);
    if (newest === shownFor) return;
    await tried(async () => {
        if (await ask(monitor)) shownFor = newest;
    });
}

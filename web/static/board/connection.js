// A connection to /api/v2/stream, in the worker that tabs share (shared.js) or in a page.
//
// EventSource parses the stream. Its own retry is never used: it has no jitter, ends for good at the first
// answer other than 200, and reports nothing. At the first error this closes the source, and opens a new
// stream with `since`.

import { marketQuery, viewFor } from "./markets.js";

const STREAM = new URL("../api/v2/stream", import.meta.url);
const STEADY_MS = 60_000; // a connection of this age resets the delays
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;
const CHECK_MS = 1000;

export const SILENT_MS = 15_000; // a heartbeat comes every 10 s

/** A time on two clocks: one may stop while the machine sleeps, the other may be set back. */
export const now = () => ({ wall: Date.now(), mono: performance.now() });
export const elapsedSince = (then) => Math.max(Date.now() - then.wall, performance.now() - then.mono);

/**
 * Calls `take(message)` with each event, `{ name, text, id, at }`, `at` in Unix milliseconds, and with
 * `{ name: "state", attempts, retryIn }` when the connection changes; `retryIn` is null while it is open.
 * Events have the fixtures of one market, or the surebets of all markets.
 */
export class Connection {
    #take;
    #market;
    #source = null;
    #id = null; // of the newest event; valid until the service restarts
    #attempts = 0;
    #retry = 0;
    #retryAt = 0;
    #openedAt = null;
    #heardAt = null; // since the connection was opened
    #isFollowing = false;

    constructor(take, market) {
        [this.#take, this.#market] = [take, market];
        setInterval(() => this.#watch(), CHECK_MS);
    }

    get isFollowing() {
        return this.#isFollowing;
    }

    /** A message for a new tab: version and time while the connection is open, otherwise its state. */
    get newest() {
        if (!this.#heardAt || this.#id === null) return this.#state;
        const text = JSON.stringify({ version: Number.parseInt(this.#id, 10) });
        return { name: "heartbeat", text, id: this.#id, at: this.#heardAt.wall };
    }

    /** Connect, and stay connected; `id` is the id of the known version, null for none. */
    follow(id) {
        if (this.#isFollowing) return;
        this.#isFollowing = true;
        this.#id = id;
        this.#open();
    }

    /** Close the connection until the next call of `follow`. */
    leave() {
        this.#isFollowing = false;
        this.#close();
    }

    /** Try again now. */
    reconnect() {
        if (this.#isFollowing && this.#source === null) this.#open();
    }

    /** Connect again, and begin with the whole list, because an event could not be used. */
    restart() {
        this.#id = null;
        if (this.#source !== null) this.#lost();
    }

    get #state() {
        const retryIn = this.#source ? null : Math.max(this.#retryAt - performance.now(), 0);
        return { name: "state", attempts: this.#attempts, retryIn };
    }

    #open() {
        clearTimeout(this.#retry);
        const url = new URL(STREAM);
        url.searchParams.set("view", viewFor(this.#market));
        for (const [name, value] of Object.entries(marketQuery(this.#market))) {
            url.searchParams.set(name, value);
        }
        if (this.#id !== null) url.searchParams.set("since", this.#id);
        [this.#openedAt, this.#heardAt] = [now(), null];
        this.#source = new EventSource(url);
        this.#source.onerror = () => this.#lost();
        for (const name of ["snapshot", "changes", "heartbeat"]) this.#on(name);
        this.#source.addEventListener("bye", (event) => this.#lost(delayOf(event)));
        this.#take(this.#state);
    }

    #on(name) {
        this.#source.addEventListener(name, (event) => {
            if (this.#isOverdue()) return this.#lost(); // buffered while this machine slept
            this.#id = event.lastEventId || this.#id; // a heartbeat has no id
            this.#heardAt = now();
            if (elapsedSince(this.#openedAt) > STEADY_MS) this.#attempts = 0;
            this.#take({ name, text: event.data, id: this.#id, at: this.#heardAt.wall });
        });
    }

    #isOverdue() {
        return elapsedSince(this.#heardAt ?? this.#openedAt) > SILENT_MS;
    }

    #watch() {
        if (this.#source !== null && this.#isOverdue()) this.#lost();
    }

    #lost(delay = jitter(FIRST_DELAY_MS * 2 ** this.#attempts)) {
        this.#close();
        this.#attempts += 1;
        this.#retryAt = performance.now() + delay;
        this.#retry = setTimeout(() => this.#open(), delay);
        this.#take(this.#state);
    }

    #close() {
        clearTimeout(this.#retry);
        this.#source?.close();
        this.#source = this.#heardAt = null;
    }
}

function jitter(delay) {
    return Math.random() * Math.min(delay, MAX_DELAY_MS);
}

/** The delay that the service requests, with jitter, so that clients do not return all at once. */
function delayOf(bye) {
    let retry = 0;
    try {
        retry = Number(JSON.parse(bye.data).retry);
    } catch {
        // no delay was requested: reconnect as after any error
    }
    return retry > 0 ? retry + jitter(retry) : jitter(FIRST_DELAY_MS);
}

// The connection to /api/v2/stream.
//
// EventSource reads the frames. Its own retry is never used: it has no jitter, gives up for good at
// the first answer that is not 200, and reports nothing. At the first error the source is closed, and a
// new stream is opened with `since`.

const SILENT_MS = 15_000; // a heartbeat comes every 10 s
const STEADY_MS = 60_000; // after this time a connection is good, and the delays begin again
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 20_000;

/** A point in time on two clocks: one may stop while a machine sleeps, the other may be set back. */
const now = () => ({ wall: Date.now(), mono: performance.now() });
const elapsedSince = (then) => Math.max(Date.now() - then.wall, performance.now() - then.mono);

/** Calls `onList(list)` and `onChanges(changes)` with data, `onState()` when the connection changes. */
export class Stream {
    #url;
    #listener;
    #source = null;
    #version = null;
    #id = null; // of the event with that version; only the same start of the service accepts it
    #attempts = 0;
    #retry = 0;
    #retryAt = 0;
    #openedAt = null;
    #heardAt = null;
    #isLive = false;

    constructor(url, listener) {
        this.#url = url;
        this.#listener = listener;
    }

    /** Connect, and stay connected as long as the page is open. */
    start() {
        setInterval(() => this.#watch(), 1000);
        addEventListener("online", () => this.reconnect());
        document.addEventListener("visibilitychange", () => this.#watch());
        addEventListener("pagehide", () => this.#close());
        addEventListener("pageshow", (event) => event.persisted && this.#lost(0)); // from the page cache
        this.#open();
    }

    /** Whether the delivered data is up to date. */
    get isLive() {
        return this.#isLive;
    }

    /** Whether the last attempt failed or the last connection was lost. */
    get hasFailed() {
        return this.#attempts > 0 && !this.#isLive;
    }

    /** Milliseconds since the last event; null before the first. */
    get age() {
        return this.#heardAt && elapsedSince(this.#heardAt);
    }

    /** Milliseconds until the next attempt; null during an attempt. */
    get untilRetry() {
        return this.#source ? null : Math.max(this.#retryAt - performance.now(), 0);
    }

    /** Try again now. */
    reconnect() {
        if (this.#source === null) this.#open();
    }

    #open() {
        clearTimeout(this.#retry);
        const url = new URL(this.#url, document.baseURI);
        if (this.#id !== null) url.searchParams.set("since", this.#id);
        this.#openedAt = now();
        this.#source = new EventSource(url);
        this.#source.onerror = () => this.#lost();
        this.#on("snapshot", (list) => this.#listener.onList(list));
        this.#on("changes", (changes) => this.#apply(changes));
        this.#on("heartbeat", (heartbeat) => this.#follow(heartbeat.version));
        this.#source.addEventListener("bye", (event) => this.#lost(delayOf(event)));
    }

    #on(name, take) {
        this.#source.addEventListener(name, (event) => {
            if (this.#isOverdue()) return this.#lost(); // it was buffered while this machine slept
            try {
                const data = JSON.parse(event.data);
                take(data);
                this.#version = data.version;
                this.#id = event.lastEventId || this.#id; // a heartbeat has none
            } catch (error) {
                console.warn(`the stream's ${name} cannot be used:`, error.message);
                this.#version = this.#id = null; // the next connection then begins with the whole list
                return this.#lost();
            }
            this.#heardAt = now();
            if (elapsedSince(this.#openedAt) > STEADY_MS) this.#attempts = 0;
            if (this.#isLive) return;
            this.#isLive = true;
            this.#listener.onState();
        });
    }

    #apply(changes) {
        this.#follow(changes.since);
        this.#listener.onChanges(changes);
    }

    /** Throw an error unless everything up to `version` was received. */
    #follow(version) {
        if (this.#version === null || !(version <= this.#version)) {
            throw new Error(`version ${version} does not follow ${this.#version}`);
        }
    }

    #isOverdue() {
        const times = [this.#openedAt, this.#heardAt].filter(Boolean).map(elapsedSince);
        return Math.min(...times) > SILENT_MS;
    }

    #watch() {
        if (this.#source !== null && this.#isOverdue()) this.#lost();
    }

    #lost(delay = jitter(FIRST_DELAY_MS * 2 ** this.#attempts)) {
        this.#close();
        this.#attempts += 1;
        this.#retryAt = performance.now() + delay;
        this.#retry = setTimeout(() => this.#open(), delay);
        this.#listener.onState();
    }

    #close() {
        clearTimeout(this.#retry);
        this.#source?.close();
        this.#source = null;
        this.#isLive = false;
    }
}

function jitter(delay) {
    return Math.random() * Math.min(delay, MAX_DELAY_MS);
}

/** The delay that the service asks for, with jitter so that clients do not return all at once. */
function delayOf(bye) {
    let retry = 0;
    try {
        retry = Number(JSON.parse(bye.data).retry);
    } catch {
        // without a delay: as after any other end
    }
    return retry > 0 ? retry + jitter(retry) : jitter(FIRST_DELAY_MS);
}

// Follows the board for a page: first the list, then the stream's changes, without a gap.
//
// All visible tabs follow one stream (line.js). So a tab may join when others have a newer version, and
// requests the changes that it lacks. A hidden tab soon stops, unless it has to notify the reader.

import { Connection, elapsedSince, now, SILENT_MS } from "./connection.js";
import { lineTo } from "./line.js";
import { askList, askNews, COMPARING } from "./lists.js";

const HIDDEN_MS = 10_000; // how long a hidden tab follows
const STATING_MS = 5000; // between two signs of life to the worker
const BROKEN_MS = 45_000; // a working worker sends something within this time
const PAUSE_MS = 1000; // between two requests for missing changes
const CHECK_MS = 1000;

/**
 * Calls `onList(list)` and `onChanges(changes)` with data of one `market`, `onComparing()` while the
 * service makes its first links and shows no fixtures, and `onState()` when the connection changes.
 * `isNeeded()` says whether to go on while the page is hidden.
 */
export class Stream {
    #listener;
    #market;
    #line;
    #isFollowing = false;
    #version = null;
    #id = null; // of that version, with its epoch
    #heardAt = null;
    #isLive = false;
    #attempts = 0;
    #retryAt = null;
    #lineSaidAt = 0;
    #statedAt = 0;
    #waiting = null; // messages that came during a request for missing changes
    #askedAt = -Infinity;
    #hiding = 0;
    #end = new AbortController();
    #wasServed = false;
    #epoch = null; // of the service, as /health says

    constructor(listener, market) {
        this.#listener = listener;
        this.#join(market);
    }

    /** Begin with this list, requested at the time `at` (null: with the stream's), and stay connected. */
    start(list, at) {
        const { signal } = this.#end;
        if (signal.aborted) return;
        const watching = setInterval(() => this.#watch(), CHECK_MS);
        signal.addEventListener("abort", () => clearInterval(watching));
        addEventListener("online", () => this.reconnect(), { signal });
        document.addEventListener("visibilitychange", () => this.#see(), { signal });
        addEventListener("pagehide", () => this.#leave(), { signal });
        const isKept = (event) => event.persisted && this.#see(); // from the page cache
        addEventListener("pageshow", isKept, { signal });
        if (list === COMPARING) this.#compare();
        else if (list) this.#try("list", () => this.#accept(list, list.cursor, at));
        this.#see();
    }

    /** Leave for good. */
    stop() {
        this.#end.abort();
        clearTimeout(this.#hiding);
        this.#leave();
    }

    /** Follow another market from now on; drop the data of the old one. */
    async show(market) {
        if (market === this.#market) return;
        this.#line.leave();
        this.#join(market);
        this.#forget();
        const [line, began] = [this.#line, now()];
        const list = await askList(market);
        if (line !== this.#line || this.#version !== null) return; // another market, or already there
        if (list === COMPARING) this.#compare();
        else if (list) this.#try("list", () => this.#accept(list, list.cursor, began));
        if (this.#isFollowing) this.#follow();
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
        return this.#retryAt === null ? null : Math.max(this.#retryAt - performance.now(), 0);
    }

    /** Try again now. */
    reconnect() {
        this.#line.reconnect();
    }

    /** Take an answer of /health, null for none; if the service is back or new, connect at once. */
    served(answer) {
        const isBack = answer !== null && !(this.#wasServed && answer.epoch === this.#epoch);
        this.#wasServed = answer !== null;
        this.#epoch = answer?.epoch ?? this.#epoch;
        if (isBack && !this.#isLive) this.reconnect();
    }

    #see() {
        clearTimeout(this.#hiding);
        if (document.hidden) this.#hiding = setTimeout(() => this.#hide(), HIDDEN_MS);
        else this.#follow();
        this.#watch();
    }

    #hide() {
        if (!this.#listener.isNeeded()) this.#leave();
    }

    #follow() {
        if (!this.#isFollowing) this.#lineSaidAt = performance.now();
        this.#isFollowing = true;
        this.#statedAt = performance.now();
        this.#line.follow(this.#id);
    }

    #leave() {
        this.#isFollowing = false;
        this.#line.leave();
        this.#setLive(false);
    }

    /** Connect to the line of this market only. */
    #join(market) {
        this.#market = market;
        const line = lineTo(
            market,
            (message) => line === this.#line && this.#hear(message),
            () => line === this.#line && this.#useOwn(),
        );
        this.#line = line;
        [this.#attempts, this.#retryAt, this.#waiting] = [0, null, null];
        this.#lineSaidAt = performance.now();
    }

    /** The worker is missing or does not work any more: use an own connection. */
    #useOwn() {
        this.#line.leave();
        const line = new Connection((message) => line === this.#line && this.#hear(message), this.#market);
        this.#line = line;
        if (this.#isFollowing) this.#follow();
    }

    #watch() {
        if (this.#isLive && this.age > SILENT_MS) this.#setLive(false);
        if (!this.#isFollowing) return;
        if (performance.now() - this.#statedAt > STATING_MS) this.#follow();
        const isOwn = this.#line instanceof Connection;
        if (!isOwn && performance.now() - this.#lineSaidAt > BROKEN_MS) this.#useOwn();
    }

    #hear(message) {
        if (!this.#isFollowing) return;
        this.#lineSaidAt = performance.now();
        if (message.name === "state") this.#setState(message);
        else if (this.#waiting !== null) this.#waiting.push(message);
        else this.#try(message.name, () => this.#take(message));
    }

    #setState({ attempts, retryIn }) {
        this.#attempts = attempts;
        this.#retryAt = retryIn === null ? null : performance.now() + retryIn;
        if (retryIn !== null) this.#isLive = false;
        this.#listener.onState();
    }

    #take({ name, text, id, at }) {
        const data = JSON.parse(text);
        const heardAt = { wall: at, mono: performance.now() - Math.max(Date.now() - at, 0) };
        const isKnown = this.#version !== null && epochOf(id) === epochOf(this.#id);
        if (name === "snapshot") return this.#accept(data, id, heardAt);
        if (name === "heartbeat" && id === null) return this.#compare(); // before the first list
        const from = name === "changes" ? data.since : data.version;
        if (!isKnown || !(from <= this.#version)) return this.#catchUp({ name, text, id, at });
        if (name === "changes" && data.version >= this.#version) return this.#accept(data, id, heardAt);
        this.#heard(heardAt);
    }

    /** Take a list, or changes that follow the known version. */
    #accept(data, id, heardAt) {
        if (data.removed) this.#listener.onChanges(data);
        else this.#listener.onList(data);
        [this.#version, this.#id] = [data.version, id];
        this.#heard(heardAt);
    }

    /** The known prices are from before a restart: best prices no longer hold. */
    #compare() {
        this.#forget();
        this.#listener.onComparing();
    }

    #forget() {
        this.#version = this.#id = this.#heardAt = null;
        this.#setLive(false);
    }

    #heard(heardAt) {
        this.#heardAt = heardAt;
        this.#setLive(this.age < SILENT_MS); // messages that waited while this tab slept are older
    }

    /** Request the changes before this message; then take it and the messages that came meanwhile. */
    async #catchUp(message) {
        const waiting = [message];
        this.#waiting = waiting;
        const pause = this.#askedAt + PAUSE_MS - performance.now();
        if (pause > 0) await new Promise((done) => setTimeout(done, pause));
        this.#askedAt = performance.now();
        const began = now();
        const news = await askNews(this.#id, this.#market);
        if (waiting !== this.#waiting) return; // another market was chosen meanwhile
        this.#waiting = null;
        if (news === COMPARING) this.#compare();
        else if (news === null) return this.#refuse(message.name, new Error("earlier changes are lost"));
        else this.#try("news", () => this.#accept(news, news.cursor, began));
        waiting.forEach((later) => this.#hear(later));
    }

    #try(name, action) {
        try {
            action();
        } catch (error) {
            this.#refuse(name, error);
        }
    }

    /** The next connection begins with the whole list. */
    #refuse(name, error) {
        console.warn(`the stream's ${name} cannot be used:`, error.message);
        this.#version = this.#id = null;
        this.#setLive(false);
        this.#line.restart();
    }

    #setLive(isLive) {
        if (this.#isLive === isLive) return;
        this.#isLive = isLive;
        this.#listener.onState();
    }
}

const epochOf = (id) => id?.slice(id.indexOf("-")) ?? null;

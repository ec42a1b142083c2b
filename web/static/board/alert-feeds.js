// Follows the board for the rules of this browser: a stream for each market that they are about, also while
// the page shows another market or is hidden.

import { now } from "./connection.js";
import { currentId } from "./details.js";
import { askList } from "./lists.js";
import { Stream } from "./stream.js";
import { noteChanges, Transitions } from "./transitions.js";

/** Calls `onFire(rule, fixture, reading)`, and `onMerge(id, into)` when a match became part of another. */
export class AlertFeeds {
    #calls;
    #feeds = new Map(); // by market

    constructor(calls) {
        this.#calls = calls;
    }

    /** Whether each commit about a rule's market is known now. */
    isWatching({ market }) {
        return this.#feeds.get(market)?.isKnown ?? false;
    }

    /** Follow these rules (alert-rule.js) from now on; those that were followed go on. */
    follow(rules) {
        const byMarket = Map.groupBy(rules, ({ market }) => market);
        for (const [market, feed] of this.#feeds) {
            if (byMarket.has(market)) continue;
            feed.stop();
            this.#feeds.delete(market);
        }
        for (const [market, some] of byMarket) {
            if (!this.#feeds.has(market)) this.#feeds.set(market, new Feed(market, this.#calls));
            this.#feeds.get(market).follow(some);
        }
    }
}

/** The fixtures of one market, and the states of the rules about them. */
class Feed {
    #calls;
    #stream;
    #fixtures = new Map();
    #rules = [];
    #transitions = new Map(); // by the rule's text
    #changed = new Map();
    #order = 0;
    #isKnown = false; // whether each commit since the states began is known

    constructor(market, calls) {
        this.#calls = calls;
        const onList = ({ fixtures }) => this.#replace(fixtures);
        const onChanges = (changes) => this.#change(changes);
        const onComparing = () => this.#replace([]);
        const onState = () => this.#see();
        this.#stream = new Stream(
            { onList, onChanges, onComparing, onState, isNeeded: () => true },
            market,
        );
        const began = now();
        askList(market).then((list) => this.#stream.start(list, began));
    }

    get isKnown() {
        return this.#isKnown;
    }

    stop() {
        this.#stream.stop();
    }

    follow(rules) {
        this.#rules = rules;
        const texts = new Set(rules.map(({ text }) => text));
        for (const text of this.#transitions.keys()) if (!texts.has(text)) this.#transitions.delete(text);
        for (const rule of rules) {
            if (this.#transitions.has(rule.text)) continue;
            this.#transitions.set(rule.text, new Transitions(rule));
            if (this.#isKnown) this.#begin(rule);
        }
    }

    #replace(fixtures) {
        this.#fixtures = new Map(fixtures.map((fixture) => [fixture.id, fixture]));
        this.#isKnown = false;
        queueMicrotask(() => this.#see()); // the stream knows then whether the list is live
    }

    #change({ fixtures, removed }) {
        this.#order += 1;
        const fired = fixtures.flatMap((fixture) => this.#put(fixture.id, fixture));
        for (const { id, into } of removed) {
            this.#put(id, undefined);
            if (into && this.#about(id).length > 0) this.#calls.onMerge(id, into);
        }
        // A tab that slept takes messages late: the stream knows after this one whether it is live.
        queueMicrotask(() => this.#stream.isLive && fired.forEach((args) => this.#calls.onFire(...args)));
    }

    /** Take the fixture with this id, undefined for none; returns what fires. */
    #put(id, after) {
        const before = this.#fixtures.get(id);
        if (after) this.#fixtures.set(id, after);
        else this.#fixtures.delete(id);
        const rules = this.#isKnown ? this.#about(id) : [];
        if (rules.length > 0 && after) noteChanges(this.#changed, before, after, this.#order);
        return rules.flatMap((rule) => {
            const transitions = this.#transitions.get(rule.text);
            const fired = transitions.take(before, after, this.#changed, this.#order);
            return fired.map((reading) => [rule, after, reading]);
        });
    }

    #about(id) {
        return this.#rules.filter(({ fixture }) => fixture === id);
    }

    /** After a lost connection, or a whole list, commits may be missing: what holds now is only noted. */
    #see() {
        const isLive = this.#stream.isLive;
        if (isLive && !this.#isKnown) {
            this.#changed.clear();
            this.#rules.forEach((rule) => this.#begin(rule));
        }
        this.#isKnown = isLive;
    }

    async #begin(rule) {
        const fixture = this.#fixtures.get(rule.fixture);
        this.#transitions.get(rule.text).begin(fixture, this.#order);
        if (fixture) return;
        const id = await currentId(rule.fixture); // it may have been merged while the page was closed
        if (id !== rule.fixture) this.#calls.onMerge(rule.fixture, id);
    }
}

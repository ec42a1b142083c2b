// The bell and its dialog: what the rules of the service and of this browser told lately, and the rules of
// this browser. The bell is shown where the service sends alerts, or this browser has rules.

import { AlertFeeds } from "./alert-feeds.js";
import { rulesOf, textOf, wordsOf } from "./alert-rule.js";
import { EVERYTHING, queryOf } from "./choice.js";
import { byId, element, setText } from "./dom.js";
import { percent } from "./format.js";
import { askAlerts } from "./lists.js";
import { marketOf, markOf, spokenOf, USUAL_MARKET } from "./markets.js";
import { notify } from "./notify.js";
import { kept } from "./store.js";

const EVERY_MS = 5000;
const MOST = 200; // alerts in the list
const HERE = "this browser";
const NONE = "No alert since the service started.";
const NONE_HERE = "No alert since this page was opened.";
const UNKNOWN = "The service does not answer: its newest alerts are not known.";

/** Calls `onPrefer(preferences)` with preferences to remember, and `onGo(query)` to open a match. */
export class Alerts {
    #dialog = byId("alerts");
    #on;
    #feeds = new AlertFeeds({
        onFire: (...fired) => this.#fire(...fired),
        onMerge: (id, into) => this.#rename(id, into),
    });
    #follow = kept((rules) => this.#feeds.follow(rules));
    #rulesOf = kept((texts, minute) => rulesOf(texts, minute * 60));
    #rules = [];
    #view = null;
    #state = null;
    #service = []; // the service's alerts, newest last
    #own = []; // those of this browser
    #unseen = 0; // how many of the latter the reader has not seen
    #cursor = ""; // of the service's last answer
    #isKnown = true; // whether the last request was answered
    #isAsking = false;
    #askedAt = -Infinity;
    #alertItems = new Map();
    #ruleItems = new Map();

    constructor(on) {
        this.#on = on;
        byId("bell").addEventListener("click", () => this.#open());
        this.#dialog.addEventListener("click", (event) => this.#onClick(event));
        this.#dialog.addEventListener("close", () => this.#close());
    }

    show(view, state) {
        [this.#view, this.#state] = [view, state];
        this.#rules = this.#rulesOf(state.preferences.rules, state.minute);
        this.#follow(this.#rules);
        if (this.#hasService && !document.hidden) this.#ask();
        this.#draw();
    }

    get #hasService() {
        return this.#state.health.alerts !== undefined;
    }

    async #ask() {
        if (this.#isAsking || performance.now() - this.#askedAt < EVERY_MS) return;
        [this.#isAsking, this.#askedAt] = [true, performance.now()];
        const answer = await askAlerts(this.#cursor);
        this.#isAsking = false;
        this.#isKnown = answer !== null;
        if (answer) {
            this.#service = [...(answer.complete ? this.#service : []), ...answer.alerts].slice(-MOST);
            this.#cursor = answer.cursor;
        }
        this.#look();
    }

    /** The reader sees what is listed while the dialog is open. */
    #look() {
        const { seen } = this.#state.preferences;
        const isSeen = this.#dialog.open && !document.hidden;
        if (isSeen) this.#unseen = 0;
        if (isSeen && this.#cursor !== seen) this.#on.onPrefer({ seen: this.#cursor });
        this.#draw();
    }

    #draw() {
        const unseen = unseenOf(this.#service, this.#cursor, this.#state.preferences.seen) + this.#unseen;
        const shown = unseen === 0 ? "" : unseen > 99 ? "99+" : String(unseen);
        byId("bell").hidden = !this.#hasService && this.#rules.length === 0;
        byId("bell").ariaLabel = shown ? `Alerts: ${shown} new` : "Alerts";
        setText(byId("bell-count"), shown);
        setText(byId("bell-said"), shown && `${shown} new in alerts`);
        if (this.#dialog.open) this.#fill();
    }

    #fill() {
        const alerts = [...this.#service, ...this.#own].sort((a, b) => b.at - a.at).slice(0, MOST);
        const none = alerts.length > 0 ? "" : this.#hasService ? NONE : NONE_HERE;
        setText(byId("alerts-none"), this.#isKnown || !this.#hasService ? none : UNKNOWN);
        const { clock, price } = this.#view;
        const keyed = alerts.map((alert) => [`${alert.id} ${clock.moment(alert.at)}`, alert]);
        listIn(byId("alerts-list"), this.#alertItems, keyed, (alert) => alertItem(alert, clock));
        byId("alerts-here").hidden = this.#rules.length === 0;
        setText(byId("alerts-here-title"), `Rules of this browser (${this.#rules.length})`);
        const rules = this.#rules.map((rule) => {
            const isWatched = this.#feeds.isWatching(rule);
            return [JSON.stringify([rule.text, wordsOf(rule, price), isWatched]), { rule, isWatched }];
        });
        listIn(byId("alerts-rules"), this.#ruleItems, rules, (item) => this.#ruleItem(item));
    }

    #ruleItem({ rule, isWatched }) {
        const words = wordsOf(rule, this.#view.price);
        const name = `Remove the rule: ${rule.home} – ${rule.away}, ${words}`;
        const button = element("button", "quiet", { type: "button", "aria-label": name }, "✕");
        button.addEventListener("click", () => this.#remove(rule, button.parentElement));
        const doubt = element("small", "", {}, isWatched ? "" : "Not watched now: prices are not live.");
        const about = element("p", "", {}, linkTo(rule), `: ${words}`, doubt);
        return element("li", "", {}, about, button);
    }

    #remove({ text }, item) {
        const next = item.nextElementSibling ?? item.previousElementSibling;
        this.#on.onPrefer({ rules: this.#state.preferences.rules.filter((other) => other !== text) });
        (next?.querySelector("button") ?? byId("alerts-close")).focus();
    }

    /** A match became part of another: its rules are about that one from now on. */
    #rename(id, into) {
        const texts = this.#rules.map((rule) =>
            rule.fixture === id ? textOf({ ...rule, fixture: into }) : rule.text,
        );
        this.#on.onPrefer({ rules: [...new Set(texts)] });
    }

    #fire(rule, { home, away }, { subject, value, entry, legs }) {
        const { price } = this.#view;
        const { market, outcome, fixture } = rule;
        const said = entry
            ? `${spokenOf({ market, outcome })} is ${price(value)} at ${entry.bookmaker}${marksOf(entry)}`
            : `surebet of ${percent(value)}, ${legs.map((leg) => legOf(leg, price)).join(", ")}`;
        const [id, at] = [`${performance.now()} ${subject}`, Date.now() / 1000];
        const details = { fixture, market, home, away };
        const alert = { id, at, rule: HERE, title: `${home} - ${away}: ${said}`, details };
        this.#own = [...this.#own, alert].slice(-MOST);
        this.#unseen += 1;
        notify(`${home} – ${away}`, said, `${rule.text} ${subject}`, () => {
            focus();
            this.#go(queryFor(details));
        });
        this.#look();
    }

    #open() {
        this.#dialog.showModal();
        this.#look();
    }

    #close() {
        if (byId("bell").hidden) document.querySelector("odds-board").focus(); // the last rule was removed
    }

    /** A match opens in this page; with a key held, the browser opens it as it does every link. */
    #onClick(event) {
        const link = event.target.closest("a");
        if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        this.#go(link.getAttribute("href"));
    }

    #go(query) {
        this.#dialog.close();
        this.#on.onGo(query);
        byId("details").focus();
    }
}

/** How many of the service's alerts fired after the cursor that the reader has seen. */
function unseenOf(alerts, cursor, seen) {
    const [[newest, epoch], [number, epochThen]] = [cursor, seen].map((text) => text.split("-"));
    const later = epoch === epochThen ? newest - number : MOST;
    return later > 0 ? alerts.slice(-later).filter(({ state }) => state === "firing").length : 0;
}

/** Show an element for each `[key, item]`; those made before stay as they are, and keep the focus. */
function listIn(list, known, keyed, make) {
    const keys = new Set(keyed.map(([key]) => key));
    for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
    for (const [key, item] of keyed) if (!known.has(key)) known.set(key, make(item));
    const items = keyed.map(([key]) => known.get(key));
    if (items.length === list.children.length && items.every((item, at) => item === list.children[at]))
        return;
    const { activeElement } = document;
    list.replaceChildren(...items);
    if (list.contains(activeElement)) activeElement.focus();
}

/** The sentence of an alert, which begins with the names of its match if it is about one. */
function alertItem({ title, at, rule, state, details }, clock) {
    const names = `${details.home} - ${details.away}`;
    const isLinked = typeof details.fixture === "string" && title.startsWith(names);
    const said = isLinked ? [linkTo(details), title.slice(names.length)] : [element("bdi", "", {}, title)];
    const ended = state === "resolved" ? " · ended" : "";
    const small = element("small", "", {}, `${clock.moment(at)} · ${rule}${ended}`);
    return element("li", ended && "ended", {}, element("p", "", {}, ...said), small);
}

function linkTo(match) {
    const names = [element("bdi", "", {}, match.home), " – ", element("bdi", "", {}, match.away)];
    return element("a", "", { href: queryFor(match) }, ...names);
}

/** The query of the page with the details of a match open. */
function queryFor({ fixture, market }) {
    return queryOf({ ...EVERYTHING, fixture, market: marketOf(market)?.key ?? USUAL_MARKET });
}

const legOf = (leg, price) => `${markOf(leg)} ${price(leg.odds)} at ${leg.bookmaker}`;

function marksOf({ prices, doubts }) {
    return (prices === "collected" ? " (collected)" : "") + (doubts ? " (in doubt)" : "");
}

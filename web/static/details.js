// The details of one match, on demand: margin, ages, stakes of a surebet, and why its lists are one match.

import { Ages } from "./ages.js";
import { OUTCOMES } from "./board.js";
import { byId, element, setText } from "./dom.js";
import { findingsOf, ruleOf } from "./evidence.js";
import { amount, day, duration, moment, percent, price, rate, time } from "./format.js";
import { SPOKEN } from "./row.js";
import { stakes } from "./stakes.js";
import { Table } from "./table.js";

const PATIENCE_MS = 4000;
const LEAST_MS = 1000; // between two questions for the links of one match
const HIDDEN = "–";

const text = (title, from, className) => ({ title, className, text: from });
const figure = (title, from) => text(title, from, "figure");

/** Shows a match of the board beside it; calls `onClose()` when it is to be closed. */
export class Details {
    #aside = byId("details");
    #total = byId("total");
    #match = null;
    #names = new Map();
    #trust = "none";
    #surebet = null;
    #shows = () => true; // by the id of a bookmaker: whether it is chosen
    #asked = { key: "", stamp: null, at: -Infinity }; // for which links, and when they were answered
    #listed = ""; // the links that are shown
    #ages = new Ages(() => this.#match && this.#fill());
    #prices = new Table(byId("details-prices"), [
        text("Bookmaker", ({ name, offer }) => name + (offer.isCollected ? " (collected)" : "")),
        ...OUTCOMES.map((name, index) => figure(name, ({ offer }) => this.#shown(offer.prices[index]))),
        text("Changed", ({ offer }) => ago(this.#ages.since(offer.updated)), "right"),
        text("Confirmed", ({ offer }) => ago(this.#ages.ofConfirmation(offer.id)), "right"),
    ]);
    #best = new Table(byId("details-best"), [
        text("Result", ({ outcome }) => SPOKEN[outcome]),
        figure("Best", ({ best }) => this.#shown(best)),
        text("At", ({ where }) => where),
        figure("Fair price", ({ chance }) => (chance ? this.#shown(1 / chance) : HIDDEN)),
    ]);
    #stakes = new Table(byId("details-stakes"), [
        text("Result", ({ outcome }) => SPOKEN[outcome]),
        text("At", (leg) => leg.bookmaker + termsOf(leg)),
        figure("Price", ({ odds }) => this.#shown(odds)),
        text("Stake", ({ cents }) => cents, "right"),
    ]);

    constructor(onClose) {
        byId("close").addEventListener("click", onClose);
        this.#aside.addEventListener("keydown", (event) => event.key === "Escape" && onClose());
        this.#total.addEventListener("input", () => this.#fillStakes());
    }

    /**
     * Show this match, or with undefined that it is not there any more, or with null nothing. Best prices are
     * those of the bookmakers that `shows(id)`, as is the surebet.
     */
    show(match, names, trust, { surebet, shows }) {
        this.#aside.hidden = match === null;
        this.#aside.parentElement.classList.toggle("split", match !== null);
        this.#aside.dataset.trust = trust;
        [this.#match, this.#names, this.#trust] = [match ?? null, names, trust];
        [this.#surebet, this.#shows] = [surebet, shows];
        byId("details-gone").hidden = match !== undefined;
        byId("details-body").hidden = !match;
        if (match === undefined) setText(byId("details-title"), "Not on the board");
        if (!match) return;
        this.#fill();
        this.#explain();
        if (trust === "live") this.#ages.ask(match);
    }

    #shown(value) {
        return this.#trust === "gone" ? HIDDEN : price(Number(value.toFixed(3)));
    }

    #fill() {
        const { home, away, league, start } = this.#match;
        const title = byId("details-title");
        if (title.textContent !== `${home} – ${away}`) title.replaceChildren(...both(home, away));
        setText(byId("details-when"), `${league} · ${startOf(start)}`);
        const offers = [...this.#match.offers].map(([id, offer]) => ({ name: this.#names.get(id), offer }));
        this.#prices.show(offers.map((row) => ({ ...row, key: row.offer.bookmaker })));
        this.#fillBest(offers.filter(({ offer }) => this.#shows(offer.bookmaker)));
        this.#fillStakes();
    }

    #fillBest(offers) {
        const best = (offers.length > 0 ? OUTCOMES : []).map((outcome, index) => {
            const highest = Math.max(...offers.map(({ offer }) => offer.prices[index]));
            const at = offers.filter(({ offer }) => offer.prices[index] === highest);
            const isLive = at.some(({ offer }) => !offer.isCollected);
            const where = at.map(({ name, offer }) => name + (offer.isCollected ? " (collected)" : ""));
            const chance = this.#match.fair?.[outcome];
            return { key: outcome, outcome, best: highest, where: where.join(", "), isLive, chance };
        });
        this.#best.show(best);
        const sum = best.reduce((before, { best: odds }) => before + 1 / odds, 0);
        const doubt = best.every(({ isLive }) => isLive) ? "." : ", with prices that are only collected.";
        const margin = `${percent(sum - 1)} (book sum ${sum.toFixed(4)})${doubt}`;
        const { fair } = this.#match;
        const means = fair ? ` Fair prices: ${fair.method}, the median of the live bookmakers.` : "";
        const of = offers.length < this.#match.offers.size ? " of the chosen bookmakers" : "";
        const known = `Margin of the best prices${of}: ${margin}${means}`;
        const isKnown = this.#trust === "live" && offers.length > 0;
        setText(byId("details-margin"), isKnown ? known : "");
    }

    /** Stakes are for live prices only. */
    #fillStakes() {
        const surebet = this.#trust === "live" && this.#match ? this.#surebet : null;
        byId("details-surebet").hidden = !surebet;
        if (!surebet) return;
        const { profit, since, book_sum: sum, legs } = surebet;
        const isNet = legs.some(({ commission, fee_rate: fee }) => commission > 0 || fee > 0);
        const gain = percent(profit) + (isNet ? " after what is taken" : "");
        const whatever = `${gain} whatever the result, since ${moment(since)} (book sum ${sum.toFixed(4)}).`;
        setText(byId("details-profit"), whatever);
        const divided = stakes(legs, Math.max(this.#total.valueAsNumber || 0, 0));
        const rows = legs.map((leg, index) => {
            const cents = divided ? amount(divided.amounts[index]) : percent(leg.stake);
            return { ...leg, key: leg.outcome, cents };
        });
        this.#stakes.show(rows);
        const failed = "Whole cents of this total may lose: these are shares. Take a larger total.";
        setText(byId("details-returned"), divided ? returnOf(divided) : failed);
    }

    /** Ask for the links at once, and after a change of the match. Those of another match go at once. */
    async #explain() {
        const { key, stamp } = this.#match;
        if (key !== this.#asked.key) {
            this.#asked = { key, stamp: null, at: -Infinity };
            this.#list([]);
        }
        const { stamp: last, at } = this.#asked;
        if (this.#trust !== "live" || stamp === last || performance.now() - at < LEAST_MS) return;
        const asked = { key, stamp, at: Infinity }; // no question is asked while another is under way
        this.#asked = asked;
        const links = await linksOf(key);
        if (asked !== this.#asked) return; // another match is shown by now
        asked.at = performance.now();
        if (links === null) asked.stamp = null; // asked again soon
        this.#list(links);
    }

    /** `links` are null if they are not known. */
    #list(links) {
        const listed = JSON.stringify(links);
        if (listed === this.#listed) return;
        this.#listed = listed;
        const isAlone = links?.length === 1;
        byId("details-links").replaceChildren(...(links ?? []).map((link) => item(link, isAlone)));
        const failed = "The evidence is not known now.";
        setText(byId("details-alone"), links === null ? failed : isAlone ? "No other list has it." : "");
    }
}

/** An event as its source lists it and, unless it is the only event, why it is this match. */
function item(link, isAlone) {
    const { source, home, away, league, start_time: start, rule } = link;
    const reason = isAlone ? "" : `: ${ruleOf(link)}`;
    const title = element("p", "", {}, element("strong", "", {}, source), reason);
    const listed = element("p", "listed", {}, ...both(home, away));
    const where = element("p", "muted", {}, `${league} · ${startOf(start)}`);
    const findings = (isAlone ? [] : findingsOf(link)).map(([what, finding]) =>
        element("div", "", {}, element("dt", "", {}, what), element("dd", "", {}, finding)),
    );
    const facts = element("dl", "facts", {}, ...findings);
    return element("li", "", { "data-rule": rule }, title, listed, where, facts);
}

/** Home first, whatever the directions of their scripts. */
function both(home, away) {
    return [element("bdi", "", {}, home), " – ", element("bdi", "", {}, away)];
}

function startOf(start) {
    return start === null ? "no time" : [day(start), time(start)].filter(Boolean).join(" ");
}

/** The id of the match that has the event of this id: an old bookmark's may not be that of its match. */
export async function currentId(key) {
    const response = await fetch(`api/v2/fixtures/${encodeURIComponent(key)}`).catch(() => null);
    return response?.ok ? (await response.json()).fixture.id : key;
}

async function linksOf(key) {
    try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const response = await fetch(`api/v2/fixtures/${encodeURIComponent(key)}`, { signal });
        return response.ok ? (await response.json()).links : null;
    } catch {
        return null;
    }
}

/** What a bookmaker takes, and for how much its price is known to be good. */
function termsOf({ commission, fee_rate: fee, max_stake: most }) {
    const terms = [
        commission > 0 ? `takes\u00a0${rate(commission)}` : "",
        fee > 0 ? `fee\u00a0${rate(fee)} of p(1\u00a0−\u00a0p)` : "",
        most > 0 ? `at most\u00a0${amount(100 * most)}\u00a0USD` : "",
    ].filter(Boolean);
    return terms.length > 0 ? ` (${terms.join(", ")})` : "";
}

function returnOf({ amounts, returned }) {
    const staked = amounts.reduce((sum, part) => sum + part);
    return `Returns at least ${amount(returned)}, a gain of ${amount(returned - staked)}.`;
}

function ago(seconds) {
    return seconds === null ? HIDDEN : `${duration(seconds)} ago`;
}

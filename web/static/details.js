// The details of one match, on demand: margin, ages, the stakes of a surebet, and why its lists are one match.

import { OUTCOMES } from "./board.js";
import { byId, element, setText } from "./dom.js";
import { findingsOf, ruleOf } from "./evidence.js";
import { amount, day, duration, moment, percent, price, time } from "./format.js";
import { SPOKEN } from "./row.js";
import { stakes } from "./stakes.js";
import { Table } from "./table.js";

const PATIENCE_MS = 4000;
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
    #asked = ""; // the match and the links that were asked for last
    #prices = new Table(byId("details-prices"), [
        text("Bookmaker", ({ name, offer }) => name + (offer.isCollected ? " (collected)" : "")),
        ...OUTCOMES.map((outcome, index) => figure(outcome, ({ offer }) => this.#shown(offer.prices[index]))),
        text("Changed", ({ offer }) => ago(offer.updated), "right"),
    ]);
    #best = new Table(byId("details-best"), [
        text("Result", ({ outcome }) => SPOKEN[outcome]),
        figure("Best", ({ best }) => this.#shown(best)),
        text("At", ({ where }) => where),
        figure("Fair price", ({ chance }) => (chance ? this.#shown(1 / chance) : HIDDEN)),
    ]);
    #stakes = new Table(byId("details-stakes"), [
        text("Result", ({ outcome }) => SPOKEN[outcome]),
        text("At", ({ bookmaker }) => bookmaker),
        figure("Price", ({ odds }) => this.#shown(odds)),
        text("Stake", ({ cents }) => cents, "right"),
    ]);

    constructor(onClose) {
        byId("close").addEventListener("click", onClose);
        this.#aside.addEventListener("keydown", (event) => event.key === "Escape" && onClose());
        this.#total.addEventListener("input", () => this.#fillStakes());
    }

    /** Show this match, or with undefined that it is not there any more, or with null nothing. */
    show(match, names, trust) {
        this.#aside.hidden = match === null;
        this.#aside.parentElement.classList.toggle("split", match !== null);
        this.#aside.dataset.trust = trust;
        [this.#match, this.#names, this.#trust] = [match ?? null, names, trust];
        byId("details-gone").hidden = match !== undefined;
        byId("details-body").hidden = !match;
        if (match === undefined) setText(byId("details-title"), "Not on the board");
        if (!match) return;
        this.#fill();
        this.#explain();
    }

    #shown(value) {
        return this.#trust === "gone" ? HIDDEN : price(Number(value.toFixed(3)));
    }

    #fill() {
        const { home, away, league, start } = this.#match;
        setText(byId("details-title"), `${home} – ${away}`);
        const at = start === null ? "no time" : [day(start), time(start)].filter(Boolean).join(" ");
        setText(byId("details-when"), `${league} · ${at}`);
        const offers = [...this.#match.offers].map(([id, offer]) => ({ name: this.#names.get(id), offer }));
        this.#prices.show(offers.map((one) => ({ ...one, key: one.offer.bookmaker })));
        this.#fillBest(offers);
        this.#fillStakes();
    }

    #fillBest(offers) {
        const best = OUTCOMES.map((outcome, index) => {
            const highest = Math.max(...offers.map(({ offer }) => offer.prices[index]));
            const at = offers.filter(({ offer }) => offer.prices[index] === highest);
            const isLive = at.some(({ offer }) => !offer.isCollected);
            const where = at.map(({ name, offer }) => name + (offer.isCollected ? " (collected)" : ""));
            const chance = this.#match.fair?.[outcome];
            return { key: outcome, outcome, best: highest, where: where.join(", "), isLive, chance };
        });
        this.#best.show(best);
        const sum = best.reduce((before, one) => before + 1 / one.best, 0);
        const doubt = best.every(({ isLive }) => isLive) ? "." : ", with prices that are only collected.";
        const margin = `Margin of the best prices: ${percent(sum - 1)} (book sum ${sum.toFixed(4)})${doubt}`;
        const { fair } = this.#match;
        const means = fair ? ` Fair prices: ${fair.method}, the median of the live bookmakers.` : "";
        setText(byId("details-margin"), this.#trust === "gone" ? "" : margin + means);
    }

    /** Stakes are for live prices only. */
    #fillStakes() {
        const surebet = this.#trust === "live" ? this.#match?.surebet : null;
        byId("details-surebet").hidden = !surebet;
        if (!surebet) return;
        const { profit, since, legs } = surebet;
        setText(byId("details-profit"), `${percent(profit)} whatever the result, since ${moment(since)}.`);
        const divided = canDivide(surebet) ? stakes(legs, Math.max(this.#total.valueAsNumber || 0, 0)) : null;
        const rows = legs.map((leg, index) => {
            const cents = divided ? amount(divided.amounts[index]) : percent(leg.stake);
            return { ...leg, key: leg.outcome, cents };
        });
        this.#stakes.show(rows);
        const failed = canDivide(surebet)
            ? "Whole cents of this total may lose: these are shares. Take a larger total."
            : "These are shares of the total, after commissions.";
        setText(byId("details-returned"), divided ? returnOf(divided) : failed);
    }

    async #explain() {
        const { key, offers } = this.#match;
        const asked = JSON.stringify([key, ...[...offers.values()].map(({ id, rule }) => [id, rule])]);
        if (this.#trust !== "live" || asked === this.#asked) return;
        this.#asked = asked;
        const links = await linksOf(key);
        if (asked !== this.#asked) return; // another one is shown by now
        if (links === null) this.#asked = ""; // asked again at the next change
        const list = byId("details-links");
        list.replaceChildren(...(links ?? []).map(item));
        const isAlone = links?.length === 1;
        const failed = "The evidence is not known now.";
        setText(byId("details-alone"), links === null ? failed : isAlone ? "No other list has it." : "");
    }
}

function item(link) {
    const title = element("p", "", {}, element("strong", "", {}, link.source), `: ${ruleOf(link)}`);
    const findings = findingsOf(link).map(([what, finding]) =>
        element("div", "", {}, element("dt", "", {}, what), element("dd", "", {}, finding)),
    );
    return element("li", "", { "data-rule": link.rule }, title, element("dl", "facts", {}, ...findings));
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

/** Whether the commissions are known: without them, whole cents could lose. */
function canDivide({ profit, legs }) {
    if (legs.every(({ commission }) => Number.isFinite(commission))) return true;
    return Math.abs(1 / legs.reduce((sum, { odds }) => sum + 1 / odds, 0) - 1 - profit) < 1e-6;
}

function returnOf({ amounts, returned }) {
    const staked = amounts.reduce((sum, one) => sum + one);
    return `Returns at least ${amount(returned)}, a gain of ${amount(returned - staked)}.`;
}

function ago(at) {
    return `${duration(Math.max(Date.now() / 1000 - at, 0))} ago`;
}

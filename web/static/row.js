// One row of the board: a match with its offers, or the name of a league.

import { OUTCOMES, bestOf } from "./board.js";
import { element, part, setText, svg } from "./dom.js";
import { ruleOf } from "./evidence.js";
import { day, moment, percent, price, time } from "./format.js";

const MOVED_MS = 1600;
const SPARK = { width: 44, height: 9 };
export const SPOKEN = { 1: "home win", X: "draw", 2: "away win" };

let made = 0;

/** The headings above the prices; screen readers get them with each price instead. */
export function outcomeNames() {
    return OUTCOMES.map((name) => element("span", "outcome", { "aria-hidden": "true" }, name));
}

export function leagueRow() {
    const name = element("span", "league-name", { role: "gridcell" });
    return {
        element: identified(part("row", "league", name, ...outcomeNames())),
        fill({ league, count }) {
            setText(name, `${league} (${count})`);
        },
    };
}

export function matchRow(columns) {
    const hour = element("span", "hour");
    const date = element("span", "day");
    const home = element("span", "team", { dir: "auto" });
    const away = element("span", "team", { dir: "auto" });
    const against = element("span", "unseen", {}, " against ");
    const offers = columns.map(({ id, name }) => new OfferCells(id, name));
    const surebet = element("span", "surebet");
    const ids = columns.map(({ id }) => id);
    const who = part("rowheader", "who", home, against, away);
    const names = [part("gridcell", "when", hour, surebet, date), who];
    return {
        element: identified(part("row", "match", ...names, ...offers.map((offer) => offer.element))),
        fill({ match, surebet: found }, trust) {
            const at = match.start;
            setText(hour, at === null ? "–" : time(at));
            setText(date, match.inPlay ? "in play" : dayOf(at));
            setText(home, match.home);
            setText(away, match.away);
            who.title = [match.home, match.away].map(isolated).join(" – ");
            const isSure = found !== null && trust === "live";
            setText(surebet, isSure ? percent(found.profit) : "");
            surebet.title = isSure ? "Surebet: the gain, whatever the result" : "";
            const best = bestOf(match, ids);
            for (const offer of offers) offer.fill(match.offers.get(offer.id), best, trust);
        },
    };
}

function identified(row) {
    made += 1;
    row.id = `row-${made}`;
    return row;
}

/** The three prices of one bookmaker; empty where it does not offer the match. */
class OfferCells {
    constructor(id, name) {
        this.id = id;
        const label = element("span", "offer-name", { "aria-hidden": "true" }, name);
        this.cells = OUTCOMES.map((outcome) => new PriceCell(`${name}, ${SPOKEN[outcome]}`));
        this.element = element("div", "offer", {}, label, ...this.cells.map((cell) => cell.element));
    }

    fill(offer, best, trust) {
        this.element.classList.toggle("none", offer === undefined);
        this.element.classList.toggle("collected", offer?.isCollected ?? false);
        this.element.classList.toggle("likely", offer?.link === "likely");
        this.element.title = offer === undefined ? "" : remarks(offer);
        this.cells.forEach((cell, index) => {
            if (offer === undefined) cell.clear();
            else cell.fill(offer, index, offer.prices[index] === best[index], trust);
        });
    }
}

function dayOf(at) {
    if (at === null) return "no time";
    return at * 1000 < Date.now() ? "started" : day(at);
}

/** A name in a text of its own direction (U+2068, U+2069), so that home stays before away. */
function isolated(name) {
    return `\u2068${name}\u2069`;
}

function remarks({ updated, isCollected, link, rule, listed }) {
    const remarks = [`last changed ${moment(updated)}`];
    if (isCollected) remarks.push("collected");
    if (link === "likely") remarks.push(`likely this match: ${ruleOf({ rule })}`);
    if (listed) remarks.push(`listed as ${listed.map(isolated).join(" – ")}`);
    return remarks.join("; ");
}

class PriceCell {
    #label;
    #number = element("span", "number");
    #line = svg("path");
    #drawn = null;
    #timer = 0;

    constructor(label) {
        this.#label = label;
        const viewBox = `0 -1 ${SPARK.width} ${SPARK.height + 2}`;
        const spark = svg("svg", { class: "spark", viewBox, "aria-hidden": "true" }, this.#line);
        this.element = part("gridcell", "price", this.#number, spark);
    }

    clear() {
        this.#show("", "", false);
        this.#draw(null);
        this.#settle();
    }

    /** `trust` is "live", "doubtful" or "gone"; with "gone" no price is shown. */
    fill(offer, index, isBest, trust) {
        const isLive = trust === "live";
        const text = trust === "gone" ? "–" : price(offer.prices[index]);
        const remark = { true: isBest ? ", best price" : "", false: ", not live" }[isLive];
        const collected = offer.isCollected ? ", collected" : "";
        this.#show(text, `${this.#label}: ${text}${remark}${collected}`, isLive && isBest);
        this.#draw(trust === "gone" ? null : offer.history[index]);
        this.#flash(isLive ? offer.moves[index] : undefined);
    }

    #show(text, label, isBest) {
        setText(this.#number, text);
        if (this.element.ariaLabel !== label) this.element.ariaLabel = label;
        this.element.classList.toggle("best", isBest);
    }

    // The colour stays for a while and then fades (style sheet); a row that scrolls into view in
    // the meantime shows it as well.
    #flash(move) {
        const left = move === undefined ? 0 : move.at + MOVED_MS - performance.now();
        this.#settle();
        if (left <= 0) return;
        this.element.dataset.moved = move.isUp ? "up" : "down";
        this.#timer = setTimeout(() => this.#settle(), left);
    }

    #settle() {
        clearTimeout(this.#timer);
        delete this.element.dataset.moved;
    }

    /** The last prices as steps, the newest at the right edge. */
    #draw(history) {
        if (history === this.#drawn) return;
        this.#drawn = history;
        this.#line.setAttribute("d", history ? steps(history) : "");
        this.#line.classList.toggle("flat", history?.length === 1);
    }
}

function steps(values) {
    const low = Math.min(...values);
    const range = Math.max(...values) - low;
    const wide = SPARK.width / values.length;
    const points = values.map((value, index) => {
        const y = range === 0 ? SPARK.height / 2 : SPARK.height * (1 - (value - low) / range);
        return `${index === 0 ? "M0 " : "V"}${y.toFixed(1)}H${((index + 1) * wide).toFixed(1)}`;
    });
    return points.join("");
}

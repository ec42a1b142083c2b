// The details of one match, on demand: best prices, all prices and their ages, why its lists are one match.

import { Ages } from "./ages.js";
import { bestOf, isGrossAt, namesOf } from "./best.js";
import { OUTCOMES } from "./board.js";
import { byId, element, setText } from "./dom.js";
import { findingsOf, ruleOf } from "./evidence.js";
import { duration, percent } from "./format.js";
import { DOUBTED } from "./price-cell.js";
import { SPOKEN } from "./row.js";
import { SurebetPanel } from "./surebet-panel.js";
import { Table } from "./table.js";

const PATIENCE_MS = 4000;
const LEAST_MS = 1000; // between two questions for the links of one match
const HIDDEN = "–";

/** Whether a key is to close the details: not one that clears the search, or closes what is before them. */
function isEscape({ key, target, defaultPrevented }) {
    const isUsed = defaultPrevented || (target.type === "search" && target.value !== "");
    return key === "Escape" && !isUsed && !document.querySelector("dialog[open], :popover-open");
}

const text = (title, from, className) => ({ title, className, text: from });
const figure = (title, from) => text(title, from, "figure");

/**
 * Shows a match of the board beside it. Calls `onClose()` when it is to be closed, `onPin({ match })` or
 * `onPin({ league })`, and `onPrefer(preferences)` with what is to be remembered.
 */
export class Details {
    #aside = byId("details");
    #match = null;
    #names = new Map();
    #view = { trust: "none" };
    #preferences = null;
    #asked = { key: "", stamp: null, at: -Infinity }; // for which links, and when they were answered
    #listed = ""; // the links that are shown
    #ages = new Ages(() => this.#match && this.#fill());
    #prices = new Table(
        byId("details-prices"),
        [
            { title: "Bookmaker", fill: fillBookmaker },
            ...OUTCOMES.map((name, index) => figure(name, ({ offer }) => this.#shown(offer.prices[index]))),
            text("Changed", ({ offer }) => ago(this.#ages.since(offer.updated)), "right"),
            text("Confirmed", ({ offer }) => ago(this.#ages.ofConfirmation(offer.id)), "right"),
        ],
        ({ offer }) => (offer.isDoubted ? `These are ${DOUBTED}: none is a best price.` : ""),
    );
    #best = new Table(byId("details-best"), [
        text("Result", ({ outcome }) => SPOKEN[outcome]),
        figure("Best", ({ best }) => this.#shown(best)),
        text("At", ({ where }) => where),
        figure("Fair price", ({ chance }) => (chance ? this.#shown(1 / chance) : HIDDEN)),
    ]);
    #surebet;

    constructor({ onClose, onPin, onPrefer }) {
        byId("close").addEventListener("click", onClose);
        addEventListener("keydown", (event) => !this.#aside.hidden && isEscape(event) && onClose());
        byId("pin-match").addEventListener("click", () => onPin({ match: this.#match.key }));
        byId("pin-league").addEventListener("click", () => onPin({ league: this.#match.leagueId }));
        this.#surebet = new SurebetPanel(onPrefer);
    }

    /**
     * Show this match, or with undefined that it is not there any more, or with null nothing. Best prices
     * are those of the shown columns, as is the surebet.
     */
    show(match, names, view, preferences) {
        const { trust } = view;
        this.#aside.hidden = match === null;
        this.#aside.parentElement.classList.toggle("split", match !== null);
        this.#aside.dataset.trust = trust;
        [this.#match, this.#names, this.#view, this.#preferences] = [
            match ?? null,
            names,
            view,
            preferences,
        ];
        byId("details-gone").hidden = match !== undefined;
        byId("details-body").hidden = !match;
        if (match === undefined) setText(byId("details-title"), "Not on the board");
        if (!match) return;
        this.#fill();
        this.#explain();
        if (trust === "live") this.#ages.ask(match);
    }

    #shown(value) {
        return this.#view.trust === "gone" ? HIDDEN : this.#view.price(Number(value.toFixed(3)));
    }

    #fill() {
        const { home, away, league, start } = this.#match;
        const title = byId("details-title");
        if (title.textContent !== `${home} – ${away}`) title.replaceChildren(...both(home, away));
        setText(byId("details-when"), `${league} · ${startOf(start, this.#view.clock)}`);
        byId("pin-match").ariaPressed = String(this.#preferences.matches.includes(this.#match.key));
        byId("pin-league").ariaPressed = String(this.#preferences.leagues.includes(this.#match.leagueId));
        const offers = [...this.#match.offers].map(([id, offer]) => ({ name: this.#names.get(id), offer }));
        this.#prices.show(offers.map((row) => ({ ...row, key: row.offer.bookmaker })));
        this.#fillBest();
        const surebet = this.#view.trust === "live" ? this.#view.surebetOf(this.#match) : null;
        this.#surebet.show(surebet, this.#view, this.#preferences);
    }

    #fillBest() {
        const { columns, shown } = this.#view;
        const best = bestOf(this.#match, columns).map((found, index) => {
            const [outcome, isGross] = [OUTCOMES[index], isGrossAt(found)];
            const where = this.#view.trust === "gone" ? HIDDEN : namesOf(found);
            const [chance, isLive] = [this.#match.fair?.[outcome], !found.isCollected];
            return { key: outcome, outcome, best: found.price, where, isLive, isGross, chance };
        });
        this.#best.show(best);
        const sum = best.reduce((before, { best: odds }) => before + 1 / odds, 0);
        const doubt = best.every(({ isLive }) => isLive) ? "." : ", with prices that are only collected.";
        const margin = `${percent(sum - 1)} (book sum ${sum.toFixed(4)})${doubt}`;
        const { fair } = this.#match;
        const method = `the median of the live bookmakers (${fair?.method} method)`;
        const means = fair ? ` Fair prices are without margins: ${method}.` : "";
        const isHidden = (bookmaker) => shown.every(({ id }) => id !== bookmaker);
        const isPart = [...this.#match.offers.keys()].some(isHidden);
        const of = isPart ? " of the chosen bookmakers" : "";
        const before = best.some(({ isGross }) => isGross) ? " before fees" : "";
        const known = `Margin of the best prices${of}${before}: ${margin}${means}`;
        const isKnown = this.#view.trust === "live" && best.length > 0;
        setText(byId("details-margin"), isKnown ? known : "");
    }

    /** Ask for the links at once, and after a change of the match. Those of another match go at once. */
    async #explain() {
        const { key, stamp } = this.#match;
        if (key !== this.#asked.key) {
            this.#asked = { key, stamp: null, at: -Infinity };
            this.#list([]);
        }
        const { stamp: last, at } = this.#asked;
        if (this.#view.trust !== "live" || stamp === last || performance.now() - at < LEAST_MS) return;
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
        byId("details-links").replaceChildren(
            ...(links ?? []).map((link) => item(link, isAlone, this.#view.clock)),
        );
        const failed = "The evidence is not known now.";
        setText(byId("details-alone"), links === null ? failed : isAlone ? "No other list has it." : "");
    }
}

/** An event as its source lists it and, unless it is the only event, why it is this match. */
function item(link, isAlone, clock) {
    const { source, home, away, league, start_time: start, rule } = link;
    const reason = isAlone ? "" : `: ${ruleOf(link)}`;
    const title = element("p", "", {}, element("strong", "", {}, source), reason);
    const listed = element("p", "listed", {}, ...both(home, away));
    const where = element("p", "muted", {}, `${league} · ${startOf(start, clock)}`);
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

function startOf(start, clock) {
    return start === null ? "no time" : clock.moment(start);
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

/** The bookmaker's name, which leads to its page of the match where that is known. */
function fillBookmaker(cell, { name, offer }) {
    const [words, { url }] = [name + marksOf(offer), offer];
    const link = cell.querySelector("a");
    if (cell.textContent === words && (link?.getAttribute("href") ?? null) === url) return;
    const away = { href: url, target: "_blank", rel: "noopener noreferrer" };
    cell.replaceChildren(url === null ? words : element("a", "", away, words));
}

function marksOf({ isCollected, isSuperseded }) {
    return (isCollected ? " (collected)" : "") + (isSuperseded ? " (older source)" : "");
}

function ago(seconds) {
    return seconds === null ? HIDDEN : `${duration(seconds)} ago`;
}

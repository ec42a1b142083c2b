// The details of one match: best prices, all prices with their ages, and the links of its entries.

import { Ages } from "./ages.js";
import { bestOf, isGrossAt, namesOf } from "./best.js";
import { byId, element, setText } from "./dom.js";
import { findingsOf, ruleOf } from "./evidence.js";
import { duration, percent } from "./format.js";
import { ANY_MARKET, idOf, USUAL_MARKET } from "./markets.js";
import { OTHER_BET, OtherMarkets } from "./other-markets.js";
import { DOUBTED } from "./price-cell.js";
import { PriceLines } from "./price-lines.js";
import { SurebetPanel } from "./surebet-panel.js";
import { Table } from "./table.js";

const PATIENCE_MS = 4000;
const LEAST_MS = 1000; // between two requests for the links of one match
const EVERY_MS = 5000; // between two requests for its other markets
const HIDDEN = "–";
const GONE = "This match is not on the board any more.";
const GONE_OF = {
    [USUAL_MARKET]: GONE,
    [ANY_MARKET]: "There is no surebet of the match on this market any more.",
};
const GONE_OF_MARKET = "No bookmaker has prices of the match on this market now.";

const RETURNED = " They are for the part of a stake that is not returned.";

/** Whether a key closes the details: not if it clears the search, or closes a dialog in front of them. */
function isEscape({ key, target, defaultPrevented }) {
    const isUsed = defaultPrevented || (target.type === "search" && target.value !== "");
    return key === "Escape" && !isUsed && !document.querySelector("dialog[open], :popover-open");
}

const text = (title, from, className) => ({ title, className, text: from });
const figure = (title, from) => text(title, from, "figure");

/**
 * Shows a match of the board beside it. Calls `onClose()` to be closed, `onPin({ match })` or
 * `onPin({ league })` to pin, and `onPrefer(preferences)` with preferences to remember.
 */
export class Details {
    #aside = byId("details");
    #match = null;
    #names = new Map();
    #view = { trust: "none" };
    #preferences = null;
    #asked = { key: "", stamp: null, at: -Infinity }; // the requested links, and the time of their answer
    #listed = ""; // the shown links
    #ages = new Ages(() => this.#match && this.#fill());
    #kind = ""; // the key of the tables' market
    #prices;
    #best = new Table(byId("details-best"), [
        text("Result", ({ spoken }) => spoken),
        figure("Best", ({ best }) => this.#shown(best)),
        text("At", ({ where }) => where),
        figure("Fair price", ({ chance }) => (chance ? this.#shown(1 / chance) : HIDDEN)),
    ]);
    #surebet;
    #others;
    #lines = new PriceLines();

    constructor({ onClose, onPin, onPrefer, onMarket }) {
        byId("close").addEventListener("click", onClose);
        addEventListener("keydown", (event) => !this.#aside.hidden && isEscape(event) && onClose());
        byId("pin-match").addEventListener("click", () => onPin({ match: idOf(this.#match.key) }));
        byId("pin-league").addEventListener("click", () => onPin({ league: this.#match.leagueId }));
        this.#surebet = new SurebetPanel(onPrefer);
        this.#others = new OtherMarkets(onMarket);
    }

    /**
     * Show this match; undefined shows that it has left the board, null shows nothing. Best prices and the
     * surebet are those of the shown columns.
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
        if (match === undefined) {
            setText(byId("details-title"), "Not on the board");
            setText(byId("details-gone"), GONE_OF[view.market.key] ?? GONE_OF_MARKET);
        }
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
        byId("pin-match").ariaPressed = String(this.#preferences.matches.includes(idOf(this.#match.key)));
        byId("pin-league").ariaPressed = String(this.#preferences.leagues.includes(this.#match.leagueId));
        const offers = [...this.#match.offers].map(([id, offer]) => ({ name: this.#names.get(id), offer }));
        this.#tabulate(this.#match.market);
        this.#prices.show(offers.map((row) => ({ ...row, key: row.offer.bookmaker })));
        this.#fillBest();
        this.#others.show(this.#match.market, this.#view);
        this.#lines.show(this.#match, this.#names, this.#view);
        const surebet = this.#view.trust === "live" ? this.#view.surebetOf(this.#match) : null;
        this.#surebet.show(surebet, this.#view, this.#preferences);
    }

    /** Make a column of prices for each outcome. */
    #tabulate({ kind, outcomes }) {
        if (kind === this.#kind) return;
        this.#kind = kind;
        const prices = ({ title }, at) => figure(title, ({ offer }) => this.#shown(offer.prices[at]));
        this.#prices = new Table(
            byId("details-prices"),
            [
                { title: "Bookmaker", fill: fillBookmaker },
                ...outcomes.map(prices),
                text("Changed", ({ offer }) => ago(this.#ages.since(offer.updated)), "right"),
                text("Confirmed", ({ offer }) => ago(this.#ages.ofConfirmation(offer.id)), "right"),
            ],
            ({ offer }) => (offer.isDoubted ? `These are ${DOUBTED}: none is a best price.` : ""),
        );
    }

    #fillBest() {
        const { columns, shown } = this.#view;
        const { market, fair, isOtherBet } = this.#match;
        const isUsual = market.key === USUAL_MARKET;
        setText(byId("details-market"), isUsual ? "Best prices" : `Best prices: ${market.title}`);
        const best = bestOf(this.#match, columns).map((found, index) => {
            const [{ key, spoken }, isGross] = [market.outcomes[index], isGrossAt(found)];
            const where = this.#view.trust === "gone" ? HIDDEN : namesOf(found);
            const [chance, isLive] = [fair?.[key], !found.isCollected];
            return { key, spoken, best: found.price, where, isLive, isGross, chance };
        });
        this.#best.show(best);
        const sum = best.reduce((before, { best: odds }) => before + 1 / odds, 0);
        const margin = sum / market.winners - 1;
        const doubt = best.every(({ isLive }) => isLive) ? "." : ", with prices that are only collected.";
        const sums = `${percent(margin)} (book sum ${sum.toFixed(4)})${doubt}`;
        const method = `the median of the live bookmakers (${fair?.method} method)`;
        const returned = fair?.conditional ? RETURNED : "";
        const means = fair ? ` Fair prices are without margins: ${method}.${returned}` : "";
        const isHidden = (bookmaker) => shown.every(({ id }) => id !== bookmaker);
        const isPart = [...this.#match.offers.keys()].some(isHidden);
        const of = isPart ? " of the chosen bookmakers" : "";
        const before = best.some(({ isGross }) => isGross) ? " before fees" : "";
        const known = `Margin of the best prices${of}${before}: ${sums}${means}`;
        const isKnown = this.#view.trust === "live" && best.length > 0;
        setText(byId("details-margin"), isOtherBet ? OTHER_BET : isKnown ? known : "");
    }

    /** Request the links at once, and after a change of the match; remove links of another match. */
    async #explain() {
        const { key, stamp } = this.#match;
        if (key !== this.#asked.key) {
            this.#asked = { key, stamp: null, at: -Infinity };
            this.#others.take(null);
            this.#list([]);
        }
        const { stamp: last, at } = this.#asked;
        const least = stamp === last ? (this.#others.isAny ? EVERY_MS : Infinity) : LEAST_MS;
        if (this.#view.trust !== "live" || performance.now() - at < least) return;
        const asked = { key, stamp, at: Infinity }; // one request at a time
        this.#asked = asked;
        const answer = await fixtureOf(key);
        if (asked !== this.#asked) return; // another match is shown now
        asked.at = performance.now();
        if (answer === null) asked.stamp = null; // requested again soon
        this.#others.take(answer);
        if (this.#match !== null) this.#others.show(this.#match.market, this.#view); // still open
        this.#list(answer?.links ?? null);
    }

    /** `links` are null if unknown. */
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

/** Home first, for any direction of the scripts. */
function both(home, away) {
    return [element("bdi", "", {}, home), " – ", element("bdi", "", {}, away)];
}

function startOf(start, clock) {
    return start === null ? "no time" : clock.moment(start);
}

/** The current id of the match with this id: an old bookmark may have an id that was merged. */
export async function currentId(key) {
    const id = idOf(key);
    const response = await fetch(`api/v2/fixtures/${encodeURIComponent(id)}`).catch(() => null);
    return response?.ok ? (await response.json()).fixture.id + key.slice(id.length) : key;
}

/** The match with its other markets and its links; null without an answer. */
async function fixtureOf(key) {
    try {
        const signal = AbortSignal.timeout(PATIENCE_MS);
        const response = await fetch(`api/v2/fixtures/${encodeURIComponent(idOf(key))}`, { signal });
        return response.ok ? await response.json() : null;
    } catch {
        return null;
    }
}

/** The bookmaker's name, linked to its page of the match if that is known. */
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

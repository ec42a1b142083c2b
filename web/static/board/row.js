// One row of the board: a match with its best prices and its offers, or a heading.

import { PLAYED } from "./arrange.js";
import { bestOf, isGrossAt, isMarked, namesOf, offerOf, offersOf } from "./best.js";
import { element, part, setText } from "./dom.js";
import { ruleOf } from "./evidence.js";
import { count, percent } from "./format.js";
import { DOUBTED, PriceCell } from "./price-cell.js";

const OTHER_BET = "Only goals after the bet count.";

let made = 0;

/** The headings above the prices; screen readers get them with each price instead. */
export function outcomeNames({ outcomes }) {
    return outcomes.map(({ title }) => element("span", "outcome", { "aria-hidden": "true" }, title));
}

/** The titles of the columns; bookmakers' titles both in full and short. */
export function titlesRow(columns, market) {
    const manifold = (kind, title, short) => {
        const names = [element("span", `${kind}-title`, {}, title), element("span", "short", {}, short)];
        names[1].ariaHidden = "true";
        const made = part("columnheader", kind, ...names, ...outcomeNames(market));
        [made.ariaColSpan, made.title] = [market.outcomes.length, title];
        return made;
    };
    const isGross = columns.some((column) => column.isGross);
    const row = part(
        "row",
        "titles",
        part("columnheader", "when", "Kick-off"),
        part("columnheader", "who", "Match"),
        manifold("top", isGross ? "Best, before fees" : "Best", "Best"),
        ...columns.map(({ title, short }) => manifold("offer", title, short)),
    );
    row.ariaRowIndex = 1;
    return row;
}

/** The title of a heading; its name may have another text direction than the count after it. */
export function leagueTitle() {
    return element("span", "league-title", {}, element("bdi"), element("span"));
}

export function showTitle(title, { title: text, count: matches }) {
    setText(title.firstChild, text);
    setText(title.lastChild, ` (${matches})`);
}

export function headingRow(_, market) {
    const name = element("span", "league-name", { role: "gridcell" });
    const title = leagueTitle();
    const pin = pinButton();
    name.append(pin, title);
    return {
        element: identified(part("row", "league", name, ...outcomeNames(market))),
        fill(row) {
            showTitle(title, row);
            pin.hidden = row.league === undefined;
            showPin(pin, row.isPinned, row.title);
        },
    };
}

/**
 * `fill(row, how)` shows a match; `how` is `{ trust, clock, price, isOpen, isPinned, surebet }`. All
 * matches have markets of one kind.
 */
export function matchRow(columns, market) {
    const [hour, date, surebet] = ["hour", "day", "surebet"].map((name) => element("span", name));
    const [home, away] = ["home", "away"].map(() => element("span", "team", { dir: "auto" }));
    const against = element("span", "unseen", {}, " against ");
    const [pin, more] = [pinButton(), element("button", "more", { type: "button", tabindex: "-1" })];
    const top = new BestCells(market);
    const offers = columns.map((column) => new OfferCells(column, market));
    const who = part("rowheader", "who", home, against, away);
    const when = part("gridcell", "when", hour, surebet, date, pin, more);
    const row = part("row", "match", when, who, top.element, ...offers.map((offer) => offer.element));
    return {
        element: identified(row),
        fill({ match, isMixed, header }, how) {
            const { trust, clock, isOpen, isPinned, surebet: found } = how;
            setText(hour, match.start === null ? "–" : clock.time(match.start));
            setText(date, dayOf(match, clock, isMixed, header === PLAYED));
            setText(home, match.home);
            setText(away, match.away);
            who.title = [match.home, match.away].map(isolated).join(" – ");
            const isSure = found !== null && trust === "live";
            setText(surebet, isSure ? percent(found.profit) : "");
            surebet.title = isSure ? "Surebet: the gain with every result" : "";
            showPin(pin, isPinned, `${match.home} – ${match.away}`);
            const best = bestOf(match, columns);
            top.fill(match, best, how);
            for (const offer of offers) offer.fill(match, best, how);
            const gross = best.some(isGrossAt) ? ", before fees" : "";
            setText(more, count(offersOf(match, columns).length, "bookmaker") + gross);
            more.ariaExpanded = String(isOpen);
            row.classList.toggle("open", isOpen);
        },
    };
}

export function identified(row) {
    made += 1;
    row.id = `row-${made}`;
    return row;
}

export function pinButton() {
    return element("button", "pin", { type: "button", tabindex: "-1" }, "★");
}

export function showPin(pin, isPinned, name) {
    pin.ariaPressed = String(Boolean(isPinned));
    pin.ariaLabel = `Pin ${name}`;
    pin.title = isPinned ? "Pinned: click to unpin" : "Pin to the top";
}

/** The text below the time: the day, or the league if leagues are mixed (`isMixed`). */
export function dayOf({ start, league, inPlay }, clock, isMixed, isSaid = false) {
    const isStarted = start !== null && start * 1000 < Date.now();
    const now = isSaid ? "" : inPlay ? "in play" : isStarted && inPlay !== false ? "started" : "";
    if (isMixed) return [now, league].filter(Boolean).join(" · ");
    return now || (start === null ? "no time" : clock.day(start));
}

/** The best price of each outcome, and its bookmakers. */
class BestCells {
    constructor({ outcomes }) {
        this.cells = outcomes.map(() => {
            const figure = element("span", "top-figure");
            const [name, others, before, after] = ["", "", "unseen", "unseen"].map((className) =>
                element("span", className),
            );
            const where = element("span", "top-where", { "aria-hidden": "true" }, name, others);
            const cell = part("gridcell", "top-price", before, figure, where, after);
            return { before, figure, name, others, after, element: cell };
        });
        this.remark = element("span", "remark", { role: "gridcell" });
        this.element = element("div", "top", {}, ...this.cells.map((cell) => cell.element));
    }

    fill(match, best, { trust, price }) {
        const { market, isOtherBet } = match;
        this.#remark(isOtherBet ? OTHER_BET : "");
        this.element.classList.toggle("collected", best[0]?.isCollected ?? false);
        this.cells.forEach(({ before, figure, name, others, after, element: cell }, index) => {
            const found = best[index];
            const text = found === undefined ? "" : trust === "gone" ? "–" : price(found.price);
            const where = trust === "gone" ? undefined : found; // its bookmakers are as old as the price
            const names = where === undefined ? "" : namesOf(where);
            setText(figure, text);
            setText(name, where?.at[0].short ?? "");
            setText(others, where?.at.length > 1 ? ` +${where.at.length - 1}` : "");
            const { mark, spoken } = market.outcomes[index];
            cell.dataset.outcome = mark;
            setText(before, found === undefined ? "" : `Best of ${spoken}: `);
            const remark = trust === "live" ? "" : ", not live";
            setText(after, where === undefined ? "" : ` at ${names}${remark}`);
            cell.title = names;
        });
    }

    /** Show this text instead of best prices; its element is made on first use. */
    #remark(text) {
        this.element.classList.toggle("remarked", text !== "");
        if (text === "") return this.remark.remove();
        setText(this.remark, text);
        if (this.remark.parentNode === null) this.element.append(this.remark);
    }
}

/** The prices of one column; empty without an offer. */
class OfferCells {
    constructor(column, { outcomes }) {
        this.column = column;
        const label = element("span", "offer-name", { "aria-hidden": "true" }, column.title);
        this.cells = outcomes.map(() => new PriceCell(column.title));
        this.element = element("div", "offer", {}, label, ...this.cells.map((cell) => cell.element));
    }

    fill(match, best, how) {
        const offer = offerOf(match, this.column);
        this.element.classList.toggle("none", offer === undefined);
        this.element.classList.toggle("collected", offer?.isCollected ?? false);
        this.element.classList.toggle("likely", offer?.link === "likely");
        this.element.classList.toggle("doubted", offer?.isDoubted ?? false);
        this.element.title = offer === undefined ? "" : remarks(offer, this.column, how.clock);
        this.cells.forEach((cell, index) => {
            if (offer === undefined) cell.clear();
            else cell.fill(offer, index, isMarked(best[index], offer.prices[index], offer), how);
        });
    }
}

/** A name isolated in its own text direction (U+2068, U+2069), so that home stays before away. */
export function isolated(name) {
    return `\u2068${name}\u2069`;
}

function remarks({ bookmaker, updated, isCollected, isDoubted, link, rule, listed }, { of }, clock) {
    const remarks = [`last changed ${clock.moment(updated)}`];
    if (of.length > 1) remarks.unshift(of.find(({ id }) => id === bookmaker).name);
    if (isCollected) remarks.push("collected");
    if (isDoubted) remarks.push(DOUBTED);
    if (link === "likely") remarks.push(`likely this match: ${ruleOf({ rule })}`);
    if (listed) remarks.push(`listed as ${listed.map(isolated).join(" – ")}`);
    return remarks.join("; ");
}

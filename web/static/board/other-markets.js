// The other markets of a match in its details: the best prices of each at the shown bookmakers, and a
// button that shows all of its prices.

import { bestOf, namesOf } from "./best.js";
import { Board } from "./board.js";
import { byId, element, setText } from "./dom.js";
import { percent } from "./format.js";
import { lineOf, ordered, USUAL_MARKET } from "./markets.js";
import { Table } from "./table.js";

/** Why there are no best prices of a handicap in play. */
export const OTHER_BET =
    "In play a handicap counts only goals after the bet: its prices cannot be compared.";

/** Calls `onMarket(key)` to show the prices of a market. */
export class OtherMarkets {
    #section = byId("details-others");
    #onMarket;
    #board = new Board(); // a match for each market, by the market's key
    #tables = new Map(); // by kind
    #view = null;

    constructor(onMarket) {
        this.#onMarket = onMarket;
    }

    /** Take an answer of /api/v2/fixtures/ID; null for none, which shows nothing. */
    take(answer) {
        const listed = answer === null ? [] : matchesOf(answer.fixture);
        try {
            this.#board.replace(listed);
        } catch {
            this.#board.replace([]); // a kind of a newer service
        }
    }

    /** Whether the match has another market than the usual one. */
    get isAny() {
        return this.#board.seen.matches.some(({ key }) => key !== USUAL_MARKET);
    }

    /** Show all markets except this one. */
    show(shown, view) {
        this.#view = view;
        const others = this.#board.seen.matches.filter(({ market }) => market !== shown);
        const kinds = Map.groupBy(ordered(others), ({ market }) => market.kind);
        this.#section.hidden = !this.isAny || others.length === 0;
        const tables = [...kinds].map(([kind, matches]) => this.#filled(kind, matches));
        const list = this.#section.lastElementChild;
        const isSame = tables.length === list.children.length;
        if (!isSame || tables.some((table, at) => table !== list.children[at]))
            list.replaceChildren(...tables);
    }

    #filled(kind, matches) {
        if (!this.#tables.has(kind)) this.#tables.set(kind, this.#made(matches[0].market));
        const { element: made, table } = this.#tables.get(kind);
        table.show(
            matches.map((match) => ({ key: match.key, match, best: bestOf(match, this.#view.columns) })),
        );
        return made;
    }

    #made({ name, outcomes }) {
        const made = element("table");
        const columns = outcomes.map(({ title }, at) => ({
            title,
            className: "figure",
            fill: (cell, { best }) => this.#fill(cell, best[at]),
        }));
        const first = { title: name, fill: (cell, { match }) => this.#fillButton(cell, match.market) };
        return { element: made, table: new Table(made, [first, ...columns], (row) => this.#noteOf(row)) };
    }

    #fillButton(cell, market) {
        let button = cell.firstElementChild;
        if (button === null) {
            button = element("button", "market", { type: "button" });
            button.addEventListener("click", () => this.#onMarket(market.key));
            cell.append(button);
        }
        setText(button, market.hasLines ? lineOf(market) : "All prices");
        button.ariaLabel = `Show all prices of ${market.title}`;
    }

    #fill(cell, best) {
        if (cell.childElementCount === 0) cell.append(element("span"), element("small"));
        const { trust, price } = this.#view;
        const isShown = best !== undefined && trust !== "gone";
        setText(cell.firstElementChild, isShown ? price(best.price) : "–");
        setText(cell.lastElementChild, isShown ? namesOf(best) : "");
    }

    #noteOf({ match }) {
        if (match.isOtherBet) return OTHER_BET;
        const surebet = this.#view.trust === "live" ? match.surebet : null;
        const isShown = ({ id }) => this.#view.shown.some((bookmaker) => id.startsWith(`${bookmaker.id}_`));
        return surebet?.legs.every(isShown) ? `Surebet: ${percent(surebet.profit)}.` : "";
    }
}

/** The markets of a fixture as fixtures of their own; each id is the market's key. */
function matchesOf(fixture) {
    const { markets = {}, ...usual } = fixture;
    const others = Object.entries(markets).map(([key, fields]) => {
        return { ...usual, surebet: null, in_play_rule: undefined, ...fields, id: key, market: key };
    });
    const isUsual = usual.entries.length > 0 && markets[USUAL_MARKET] === undefined;
    return [...(isUsual ? [{ ...usual, id: USUAL_MARKET }] : []), ...others];
}

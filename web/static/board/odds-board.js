// <odds-board>: the list of matches. Only the rows in view, and a few around them, are in the document.

import { element, part } from "./dom.js";
import { HEADING, layoutOf, topsOf } from "./layout.js";
import { ANY_MARKET, marketOf } from "./markets.js";
import { leagueTitle, outcomeNames, showTitle, titlesRow } from "./row.js";
import { RowPool } from "./row-pool.js";

const AROUND = 6; // rows rendered above and below the visible rows
const PAGE = 0.85; // the part of the height by which Page Up and Page Down scroll

export class OddsBoard extends HTMLElement {
    #head = part("rowgroup", "head");
    #league = element("div", "league current", { "aria-hidden": "true" });
    #leagueName = leagueTitle();
    #leaguePin = element("span", "pin", { title: "Pin to the top" }, "★");
    #body = part("rowgroup", "body");
    #rows = [];
    #tops = [];
    #indexes = new Map(); // row indexes by key
    #columns = [];
    #how = { market: marketOf() }; // the form of rows, see matchRow
    #rendered = new Map(); // rows in the document, by key
    #pool = new RowPool();
    #active = null; // the key of the row selected with the keyboard
    #chosen = null; // the key of the match with shown details
    #current = null; // the heading that stays in view
    #isPrinting = false;
    #isDue = false; // whether the next frame draws

    connectedCallback() {
        this.tabIndex = 0;
        this.role = "grid";
        this.ariaLabel = "Odds";
        this.append(this.#head, this.#body);
        this.addEventListener("scroll", () => this.refresh(), { passive: true });
        this.addEventListener("keydown", (event) => this.#onKey(event));
        this.addEventListener("click", (event) => this.#onClick(event));
        addEventListener("beforeprint", () => this.#print(true));
        addEventListener("afterprint", () => this.#print(false));
        new ResizeObserver(() => this.#layOut()).observe(this);
    }

    /**
     * Show these rows (arrange.js) with these columns (columns.js). `how` is their form: `{ market, trust,
     * clock, odds, price, by, surebetOf, agesOf, preferences, opened, pinned, key }`; a new `key` has all
     * rows written again; `market` is the chosen one (markets.js).
     */
    show(rows, columns, how) {
        const anchor = this.#anchor();
        const isOther = how.trust !== this.#how.trust;
        const isOtherKind = kindOf(how) !== kindOf(this.#how);
        this.#how = how;
        this.dataset.trust = how.trust;
        this.dataset.odds = how.odds;
        this.#rows = rows;
        this.#indexes = new Map(rows.map((row, index) => [row.key, index]));
        if (isOtherKind || JSON.stringify(columns) !== JSON.stringify(this.#columns)) {
            this.#columns = columns;
            this.#clear();
            this.#fillHead();
        }
        this.#layOut();
        const index = this.#indexes.get(anchor?.key);
        if (index !== undefined) this.scrollTop = this.#tops[index] + anchor.below;
        if (isOther) this.#render(); // no frame may show old prices as live
    }

    /**
     * Mark the match whose details are shown. The events "choose" and "unfold" have a match's key, the
     * event "pin" has `{ match }` or `{ league }`.
     */
    set chosen(key) {
        this.#chosen = key;
        this.refresh();
    }

    /** Draw all changes before the next frame. */
    refresh() {
        if (this.#isDue) return;
        this.#isDue = true;
        requestAnimationFrame(() => {
            this.#isDue = false;
            this.#render();
        });
    }

    /** Write every row again, because the time has changed. */
    rewrite() {
        for (const shown of this.#rendered.values()) shown.stamp = null;
        this.refresh();
    }

    // The topmost row keeps its place when rows above it are added or removed.
    #anchor() {
        const index = this.#indexAt(this.scrollTop);
        if (this.scrollTop === 0 || this.#rows.length === 0) return null;
        return { key: this.#rows[index].key, below: this.scrollTop - this.#tops[index] };
    }

    #clear() {
        for (const shown of this.#rendered.values()) shown.element.remove();
        this.#rendered.clear();
        this.#pool.reset(this.#columns, this.#how.market);
    }

    #fillHead() {
        const name = element("span", "league-name", {}, this.#leaguePin, this.#leagueName);
        this.#league.replaceChildren(name, ...outcomeNames(this.#how.market));
        this.#head.replaceChildren(titlesRow(this.#columns, this.#how.market), this.#league);
    }

    #layOut() {
        const layout = layoutOf(this.clientWidth, this.#columns, this.#how.market);
        this.dataset.layout = layout.name;
        this.dataset.best = layout.isBest ? "shown" : "none";
        this.dataset.room = layout.room;
        this.style.setProperty("--columns", this.#columns.length);
        const { kind, hasLines, outcomes } = this.#how.market;
        this.style.setProperty("--outcomes", outcomes.length);
        [this.dataset.market, this.dataset.lines] = [kind, hasLines ? "shown" : "none"];
        const isSurebets = this.#how.by === "profit";
        this.dataset.rows = isSurebets ? "surebets" : "matches";
        const width = layout.width === null || isSurebets ? "" : `${layout.width}px`;
        for (const block of this.children) block.style.minWidth = width;
        const { opened = [] } = this.#how;
        const isAny = kind === ANY_MARKET;
        const how = { name: layout.name, columns: this.#columns, opened, outcomes: outcomes.length, isAny };
        this.#tops = topsOf(this.#rows, how);
        this.#body.style.height = `${this.#tops.at(-1)}px`;
        this.ariaRowCount = this.#rows.length + 1;
        this.refresh();
    }

    #render() {
        const first = this.#indexAt(this.scrollTop);
        const [from, to] = this.#isPrinting ? [0, this.#rows.length - 1] : this.#inView(first);
        const kept = new Set(this.#rows.slice(from, to + 1).map(({ key }) => key));
        for (const [key, shown] of this.#rendered) {
            if (kept.has(key)) continue;
            this.#rendered.delete(key);
            this.#pool.give(shown);
        }
        let last = null; // rows are in order in the document, for screen readers
        for (let index = from; index <= to; index += 1) last = this.#place(index, last);
        this.#nameLeague(first);
        this.#markActive();
    }

    #inView(first) {
        const last = this.#indexAt(this.scrollTop + this.clientHeight);
        return [Math.max(first - AROUND, 0), Math.min(last + AROUND, this.#rows.length - 1)];
    }

    /** On paper all rows are in view. */
    #print(isPrinting) {
        this.#isPrinting = isPrinting;
        this.#render();
    }

    #place(index, last) {
        const row = this.#rows[index];
        let shown = this.#rendered.get(row.key);
        if (shown === undefined) {
            shown = this.#pool.take(row);
            this.#rendered.set(row.key, shown);
        }
        const next = last === null ? this.#body.firstChild : last.nextSibling;
        if (next !== shown.element) this.#body.insertBefore(shown.element, next);
        if (shown.top !== this.#tops[index] || shown.index !== index) {
            shown.top = this.#tops[index];
            shown.index = index;
            shown.element.style.top = `${shown.top}px`;
            shown.element.ariaRowIndex = index + 2;
        }
        const how = row.match === undefined ? this.#how : this.#howOf(row);
        const { match, count, title, isPinned, header } = row;
        const gains = [how.surebet?.profit, how.surebet?.usual_profit];
        const what = [match?.stamp ?? count, title, isPinned, header, ...gains, how.key];
        const stamp = what.join(" ");
        if (shown.stamp !== stamp) {
            shown.stamp = stamp;
            shown.fill(row, how);
        }
        return shown.element;
    }

    #howOf({ key, match }) {
        const { surebetOf, opened, pinned } = this.#how;
        return {
            ...this.#how,
            surebet: surebetOf(match),
            isOpen: opened.includes(key),
            isPinned: pinned.includes(key),
        };
    }

    /** The index of the row at `height`, by bisection. */
    #indexAt(height) {
        let [low, high] = [0, Math.max(this.#rows.length - 1, 0)];
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.#tops[middle] <= height) low = middle;
            else high = middle - 1;
        }
        return low;
    }

    // The league of the topmost row stays in view.
    #nameLeague(first) {
        const row = this.#rows[first];
        const header = row && this.#rows[this.#indexes.get(row.header)];
        this.#league.hidden = header === undefined;
        if (header === undefined) return;
        showTitle(this.#leagueName, header);
        this.#leaguePin.hidden = header.league === undefined;
        this.#leaguePin.classList.toggle("pinned", header.isPinned === true);
        this.#current = header;
    }

    #onKey(event) {
        if (event.target !== this || event.altKey || event.ctrlKey || event.metaKey) return;
        const here = this.#indexes.get(this.#active) ?? -1;
        const height = (this.clientHeight - this.#head.offsetHeight) * PAGE;
        const page = (sign) => this.#indexAt((this.#tops[here] ?? 0) + sign * height);
        const there = {
            ArrowDown: () => here + 1,
            ArrowUp: () => here - 1,
            PageDown: () => page(1),
            PageUp: () => page(-1),
            Home: () => 0,
            End: () => this.#rows.length - 1,
        }[event.key]?.();
        if (event.key === "Enter") this.#choose(this.#rows[here]);
        if (event.key === "p") this.#pin(this.#rows[here]);
        if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
            this.#unfold(this.#rows[here], event.key === "ArrowRight");
        }
        if (there === undefined || this.#rows.length === 0) return;
        event.preventDefault();
        this.#moveTo(Math.min(Math.max(there, 0), this.#rows.length - 1));
    }

    #onClick(event) {
        if (event.target === this.#leaguePin) this.#pin(this.#current);
        const row = event.target.closest("[aria-rowindex]");
        const key = [...this.#rendered.keys()].find((name) => this.#rendered.get(name).element === row);
        const shown = this.#rows[this.#indexes.get(key)];
        if (shown === undefined) return; // its row has left since the last frame
        this.#moveTo(this.#indexes.get(key));
        if (event.target.closest(".pin")) this.#pin(shown);
        else if (event.target.closest(".more")) this.#unfold(shown);
        else this.#choose(shown);
    }

    #choose(row) {
        if (row?.match) this.#tell("choose", row.key);
    }

    #pin(row) {
        if (row?.match) this.#tell("pin", { match: row.key });
        else if (row?.league !== undefined) this.#tell("pin", { league: row.league });
    }

    /** Show or hide the prices of a card; without `isOpen`, switch. */
    #unfold(row, isOpen = !this.#how.opened.includes(row?.key)) {
        if (this.dataset.layout !== "stacked" || !row?.match) return;
        if (isOpen !== this.#how.opened.includes(row.key)) this.#tell("unfold", row.key);
    }

    #tell(name, detail) {
        this.dispatchEvent(new CustomEvent(name, { detail }));
    }

    #moveTo(index) {
        this.#active = this.#rows[index].key;
        const covered = this.#rows[index].match === undefined ? 0 : HEADING;
        const highest = this.#tops[index] - covered;
        const lowest = this.#tops[index + 1] - this.clientHeight + this.#head.offsetHeight;
        this.scrollTop = Math.min(Math.max(this.scrollTop, lowest), highest);
        this.#render();
    }

    // The active row is announced only while it is in the document.
    #markActive() {
        const active = this.#rendered.get(this.#active)?.element;
        const chosen = this.#rendered.get(this.#chosen)?.element;
        for (const { element } of this.#rendered.values()) {
            element.classList.toggle("active", element === active);
            element.ariaSelected = String(element === chosen);
        }
        if (active) this.setAttribute("aria-activedescendant", active.id);
        else this.removeAttribute("aria-activedescendant");
    }
}

/** The kind of rows. */
const kindOf = ({ by, market }) => `${by === "profit"} ${market.kind}`;

customElements.define("odds-board", OddsBoard);

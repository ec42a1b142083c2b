// <odds-board>: the list of matches. Only the rows in view, and a few around them, are in the document.

import { element, part, setText } from "./dom.js";
import { leagueRow, matchRow, outcomeNames } from "./row.js";

const AROUND = 6; // rows rendered above and below the visible rows
const HEIGHTS = { league: 30, match: 46, stackedMatch: 51, stackedOffer: 34 };
const WIDTHS = { fixed: 292, offer: 186 };
const PAGE = 0.85; // the part of the height that Page Up and Page Down move

export class OddsBoard extends HTMLElement {
    #head = part("rowgroup", "head");
    #league = element("div", "league current", { "aria-hidden": "true" });
    #leagueName = element("span", "league-name");
    #body = part("rowgroup", "body");
    #rows = [];
    #tops = [];
    #indexes = new Map(); // row indexes by key
    #columns = [];
    #trust = "live";
    #rendered = new Map(); // rows in the document, by key
    #active = null; // the key of the row selected with the keyboard
    #chosen = null; // the key of the match with shown details
    #isDue = false; // whether the next frame will draw

    connectedCallback() {
        this.tabIndex = 0;
        this.role = "grid";
        this.ariaLabel = "Odds";
        this.append(this.#head, this.#body);
        this.addEventListener("scroll", () => this.refresh(), { passive: true });
        this.addEventListener("keydown", (event) => this.#onKey(event));
        this.addEventListener("click", (event) => this.#onClick(event));
        new ResizeObserver(() => this.#layOut()).observe(this);
    }

    /**
     * Show these rows, `{ key, header, league, count }` or `{ key, header, match, surebet }`, where `header`
     * is the key of the league's row, with these columns, `{ id, name }`.
     */
    show(rows, columns, trust) {
        const anchor = this.#anchor();
        this.#trust = trust;
        this.dataset.trust = trust;
        this.#rows = rows;
        this.#indexes = new Map(rows.map((row, index) => [row.key, index]));
        if (JSON.stringify(columns) !== JSON.stringify(this.#columns)) {
            this.#columns = columns;
            this.#clear();
            this.#fillHead();
        }
        this.#layOut();
        const index = this.#indexes.get(anchor?.key);
        if (index !== undefined) this.scrollTop = this.#tops[index] + anchor.below;
    }

    /** Mark the match whose details are shown; "choose" events have the key of a clicked match. */
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

    /** Write every row again, even if its match is the same, because the time has changed. */
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
    }

    #fillHead() {
        const header = (className, ...children) => part("columnheader", className, ...children);
        const row = part("row", "titles", header("when", "Kick-off"), header("who", "Match"));
        row.ariaRowIndex = 1;
        for (const { name } of this.#columns) {
            const offer = header("offer", element("span", "offer-title", {}, name), ...outcomeNames());
            offer.ariaColSpan = 3;
            row.append(offer);
        }
        this.#league.replaceChildren(this.#leagueName, ...outcomeNames());
        this.#head.replaceChildren(row, this.#league);
    }

    #layOut() {
        const needed = WIDTHS.fixed + WIDTHS.offer * Math.min(this.#columns.length, 3);
        const isStacked = this.clientWidth < needed;
        this.dataset.layout = isStacked ? "stacked" : "wide";
        this.style.setProperty("--columns", this.#columns.length);
        const width = WIDTHS.fixed + WIDTHS.offer * this.#columns.length;
        for (const block of this.children) block.style.minWidth = isStacked ? "" : `${width}px`;
        let top = 0;
        this.#tops = this.#rows.map((row) => {
            const here = top;
            top += this.#heightOf(row, isStacked);
            return here;
        });
        this.#tops.push(top);
        this.#body.style.height = `${top}px`;
        this.ariaRowCount = this.#rows.length + 1;
        this.refresh();
    }

    #heightOf(row, isStacked) {
        if (row.match === undefined) return HEIGHTS.league;
        if (!isStacked) return HEIGHTS.match;
        const offers = this.#columns.filter(({ id }) => row.match.offers.has(id)).length;
        return HEIGHTS.stackedMatch + HEIGHTS.stackedOffer * offers;
    }

    #render() {
        const top = this.scrollTop;
        const first = this.#indexAt(top);
        const from = Math.max(first - AROUND, 0);
        const to = Math.min(this.#indexAt(top + this.clientHeight) + AROUND, this.#rows.length - 1);
        const kept = new Set(this.#rows.slice(from, to + 1).map(({ key }) => key));
        for (const [key, shown] of this.#rendered) {
            if (kept.has(key)) continue;
            shown.element.remove();
            this.#rendered.delete(key);
        }
        let last = null; // rows are in order in the document, for screen readers
        for (let index = from; index <= to; index += 1) last = this.#place(index, last);
        this.#nameLeague(first);
        this.#markActive();
    }

    #place(index, last) {
        const row = this.#rows[index];
        let shown = this.#rendered.get(row.key);
        if (shown === undefined) {
            shown = row.match === undefined ? leagueRow() : matchRow(this.#columns);
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
        const stamp = `${row.match?.stamp ?? row.count} ${this.#trust} ${row.surebet?.profit}`;
        if (shown.stamp !== stamp) {
            shown.stamp = stamp;
            shown.fill(row, this.#trust);
        }
        return shown.element;
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
        if (header) setText(this.#leagueName, `${header.league} (${header.count})`);
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
        if (there === undefined || this.#rows.length === 0) return;
        event.preventDefault();
        this.#moveTo(Math.min(Math.max(there, 0), this.#rows.length - 1));
    }

    #onClick(event) {
        const row = event.target.closest("[aria-rowindex]");
        if (row?.parentElement !== this.#body) return;
        this.#moveTo(row.ariaRowIndex - 2);
        this.#choose(this.#rows[row.ariaRowIndex - 2]);
    }

    #choose(row) {
        if (row?.match) this.dispatchEvent(new CustomEvent("choose", { detail: row.key }));
    }

    #moveTo(index) {
        this.#active = this.#rows[index].key;
        const covered = this.#rows[index].match === undefined ? 0 : HEIGHTS.league;
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

customElements.define("odds-board", OddsBoard);

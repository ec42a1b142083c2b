// Rows that are out of view, used again for others: to make one takes far longer than to fill it.

import { headingRow, matchRow } from "./row.js";

export class RowPool {
    #columns = [];
    #free = { heading: [], match: [] };

    /** Make rows for these columns from now on. */
    reset(columns) {
        this.#columns = columns;
        this.#free = { heading: [], match: [] };
    }

    /** A row to be filled; until the next frame its colours do not fade from those of its last match. */
    take({ match }) {
        const kind = match === undefined ? "heading" : "match";
        const free = this.#free[kind].pop();
        if (free === undefined) return { kind, ...this.#made(kind) };
        free.element.classList.add("reused");
        requestAnimationFrame(() => free.element.classList.remove("reused"));
        return { kind, element: free.element, fill: free.fill };
    }

    give(row) {
        row.element.remove();
        this.#free[row.kind].push(row);
    }

    #made(kind) {
        return kind === "heading" ? headingRow() : matchRow(this.#columns);
    }
}

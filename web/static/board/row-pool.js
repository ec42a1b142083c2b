// Rows that are out of view, used again for others: to make one takes far longer than to fill it.

import { headingRow, matchRow } from "./row.js";
import { surebetRow } from "./surebet-row.js";

const NONE = () => ({ heading: [], match: [], surebet: [] });

export class RowPool {
    #columns = [];
    #market = null;
    #free = NONE();

    /** Make rows for these columns, and for markets of this kind, from now on. */
    reset(columns, market) {
        [this.#columns, this.#market] = [columns, market];
        this.#free = NONE();
    }

    /** A row to be filled; until the next frame its colours do not fade from those of its last match. */
    take({ match, isSurebet }) {
        const kind = match === undefined ? "heading" : isSurebet ? "surebet" : "match";
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
        return { heading: headingRow, match: matchRow, surebet: surebetRow }[kind](
            this.#columns,
            this.#market,
        );
    }
}

// Reuses rows that are out of view, because making a row takes far longer than filling it.

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

    /** A row to be filled; its colours change at once until the next frame, so that no old match fades. */
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

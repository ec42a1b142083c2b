// A table that updates its rows in place, so that a selection of text survives.

import { element, setText } from "./dom.js";

export class Table {
    #columns;
    #body = element("tbody");
    #rows = new Map();

    /** Columns are `{ title, className, text(item) }` or, to write the cell itself, `fill(cell, item)`. */
    constructor(table, columns) {
        this.#columns = columns;
        const titles = element("tr");
        for (const { title, className = "" } of columns) {
            titles.append(element("th", className, { scope: "col" }, title));
        }
        table.replaceChildren(element("thead", "", {}, titles), this.#body);
    }

    /** Show a row for each item, by its `key`, in this order. */
    show(items) {
        for (const item of items) {
            const row = this.#row(item.key);
            this.#columns.forEach(({ text, fill }, index) => {
                const cell = row.children[index];
                if (fill) fill(cell, item);
                else setText(cell, text(item));
            });
        }
        const rows = items.map(({ key }) => this.#rows.get(key));
        const isSame = rows.every((row, index) => row === this.#body.children[index]);
        if (!isSame || rows.length !== this.#body.children.length) this.#body.replaceChildren(...rows);
    }

    #row(key) {
        if (!this.#rows.has(key)) {
            const [first, ...others] = this.#columns;
            const head = element("th", first.className, { scope: "row" });
            const cells = others.map(({ className = "" }) => element("td", className));
            this.#rows.set(key, element("tr", "", {}, head, ...cells));
        }
        return this.#rows.get(key);
    }
}

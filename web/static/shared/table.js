// A table that updates its rows in place, so that a selection of text survives.

import { element, setText } from "./dom.js";

export class Table {
    #columns;
    #below;
    #body = element("tbody");
    #rows = new Map();

    /**
     * Columns are `{ title, className, text(item) }` or, to write the cell itself, `fill(cell, item)`.
     *
     * `below(item)` is a text with its own row below the item's, unless it is empty.
     */
    constructor(table, columns, below = () => "") {
        this.#columns = columns;
        this.#below = below;
        const titles = element("tr");
        for (const { title, className = "" } of columns) {
            titles.append(element("th", className, { scope: "col" }, title));
        }
        table.replaceChildren(element("thead", "", {}, titles), this.#body);
    }

    /** Show a row for each item, by its `key`, in this order; remove other rows. */
    show(items) {
        const rows = items.flatMap((item) => this.#shown(item));
        const keys = new Set(items.map(({ key }) => key));
        for (const key of this.#rows.keys()) if (!keys.has(key)) this.#rows.delete(key);
        const isSame = rows.every((row, index) => row === this.#body.children[index]);
        if (!isSame || rows.length !== this.#body.children.length) this.#body.replaceChildren(...rows);
    }

    #shown(item) {
        const { row, note } = this.#row(item.key);
        this.#columns.forEach(({ text, fill }, index) => {
            const cell = row.children[index];
            if (fill) fill(cell, item);
            else setText(cell, text(item));
        });
        const below = this.#below(item);
        row.classList.toggle("noted", below !== "");
        if (below === "") return [row];
        setText(note.firstChild.firstChild, below);
        return [row, note];
    }

    #row(key) {
        if (!this.#rows.has(key)) {
            const [first, ...others] = this.#columns;
            const head = element("th", first.className, { scope: "row" });
            const cells = others.map(({ className = "" }) => element("td", className));
            const span = element("td", "", { colspan: String(this.#columns.length) }, element("p"));
            const row = element("tr", "", {}, head, ...cells);
            this.#rows.set(key, { row, note: element("tr", "note", {}, span) });
        }
        return this.#rows.get(key);
    }
}

// Shows what moved most in place of the list of matches.

import { byId, element, setText } from "./dom.js";
import { WINDOWS } from "./moves.js";
import { Table } from "./table.js";

export class MoversTable {
    #section = byId("movers");
    #table;
    #shown = null;

    /** Calls `onWindow(seconds)` for another time to look back, `onChoose(key)` to open a match. */
    constructor({ onWindow, onChoose }) {
        const chooser = byId("window");
        chooser.replaceChildren(...[...WINDOWS].map(([value, title]) => new Option(title, value)));
        chooser.addEventListener("change", () => onWindow(Number(chooser.value)));
        this.#section.addEventListener("click", ({ target }) => {
            const key = target.closest("button[data-key]")?.dataset.key;
            if (key !== undefined) onChoose(key);
        });
        this.#table = new Table(byId("movers-table"), [
            { title: "Match", fill: fillMatch },
            two("Outcome", ({ outcome, isUp }) => [`${isUp ? "▲" : "▼"} ${outcome}`, ""]),
            two("Fair price", ({ fair, since }) => [fair, since], "figure"),
            two("Chance", ({ move, chances }) => [move, chances], "figure"),
            two("First seen to move", ({ first, firstAt }) => [first, firstAt]),
            two("Followed", ({ followed }) => [followed, ""], "figure"),
        ]);
    }

    /** Show the moves of a view (view.js); null hides them. */
    show(moves, { movers, fixture }) {
        byId("movers-chip").ariaPressed = String(moves !== null);
        this.#section.hidden = moves === null;
        if (moves === null) return;
        byId("window").value = String(movers);
        setText(byId("movers-when"), moves.when);
        byId("movers-table").hidden = moves.rows.length === 0;
        if (moves !== this.#shown) this.#table.show(moves.rows);
        this.#shown = moves;
        for (const button of this.#section.querySelectorAll("button[data-key]")) {
            button.ariaCurrent = String(button.dataset.key === fixture);
        }
    }
}

/** A column with a text, and a smaller one below it. */
function two(title, textsOf, className = "") {
    return {
        title,
        className,
        fill(cell, item) {
            if (cell.childElementCount === 0) cell.append(element("span"), element("small"));
            textsOf(item).forEach((text, at) => setText(cell.children[at], text));
        },
    };
}

function fillMatch(cell, { key, match: { home, away, league }, start }) {
    if (cell.childElementCount === 0) {
        const names = [element("bdi"), " – ", element("bdi")];
        cell.append(element("button", "", { type: "button", "data-key": key }, ...names), element("small"));
    }
    const [button, where] = cell.children;
    setText(button.children[0], home);
    setText(button.children[1], away);
    setText(where, `${league} · ${start}`);
}

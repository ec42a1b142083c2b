// The prices above the fair price, and the record of earlier ones: two tables in a dialog, which are asked
// for while it is open. A list that cannot be read again is removed, so that no old price is shown.

import { byId, element, setText } from "./dom.js";
import { count, duration, percent } from "./format.js";
import { askRecord, askValues } from "./lists.js";
import { marketOf, markOf, shortOf, spokenOf, USUAL_MARKET } from "./markets.js";
import { Table } from "./table.js";

const EVERY_MS = 5000;
const NO_ARCHIVE = "Without an archive it is unknown what became of earlier values.";
const NONE = "No price has value now.";
const NOTHING = "No price that had value in the last seven days has a close.";
const AGES = {
    under_1_min: "Price under 1 min old",
    "1_to_10_min": "1 to 10 min",
    "10_to_60_min": "10 to 60 min",
    over_1_h: "Over 1 h",
};

/** The dialog of values; the view says how prices and times are written, and which bookmakers are shown. */
export class ValueLists {
    #dialog = byId("value");
    #timer = 0;
    #round = 0; // an answer counts only in its own opening of the dialog
    #view = null;
    #listed = null; // the last answer; null without one
    #isRecordKnown = false;
    #isAsked = false; // whether an answer about the record is still to come
    #values = new Table(byId("value-list"), [
        { title: "Bet", fill: (cell, item) => this.#fillBet(cell, item) },
        { title: "Price", className: "figure", fill: (cell, item) => this.#fillPrice(cell, item) },
        { title: "Value", className: "figure", fill: fillValue },
    ]);
    #record = new Table(byId("value-record"), [
        { title: "Of", text: ({ title }) => title },
        { title: "At the close", className: "figure", text: ({ group }) => meanOf(group) },
        { title: "Expected", className: "figure", text: ({ group }) => shareOf(group.mean_ev) },
        { title: "Judged", className: "figure", text: ({ group }) => `${group.judged} of ${group.flags}` },
    ]);

    constructor() {
        byId("open-value").addEventListener("click", () => this.#open());
        this.#dialog.addEventListener("close", () => this.#close());
    }

    show(view) {
        this.#view = view;
        if (this.#dialog.open) this.#draw();
    }

    #open() {
        this.#dialog.showModal();
        this.#isRecordKnown = false;
        this.#take(null, "The values are being read.");
        this.#ask();
    }

    #close() {
        clearTimeout(this.#timer);
        this.#round += 1;
        this.#take(null, "");
    }

    async #ask() {
        const round = this.#round;
        this.#askRecord(round);
        const listed = await askValues();
        if (round !== this.#round) return;
        this.#take(listed, "The values cannot be read now.");
        this.#timer = setTimeout(() => this.#ask(), EVERY_MS);
    }

    async #askRecord(round) {
        if (this.#isRecordKnown || this.#isAsked) return;
        this.#isAsked = true;
        const record = await askRecord();
        this.#isAsked = false;
        if (record && round === this.#round) this.#takeRecord(record);
    }

    #take(listed, why) {
        this.#listed = listed;
        setText(byId("value-none"), listed ? "" : why);
        this.#draw();
    }

    #draw() {
        const { values = [], note, at = 0 } = this.#listed ?? {};
        const shown = new Set(this.#view?.shown.map(({ id }) => id));
        const known = values.filter(({ id, market }) => shown.has(id.split("_")[0]) && marketOf(market));
        byId("value-list").hidden = known.length === 0;
        if (this.#listed) setText(byId("value-none"), known.length ? "" : note ? sentence(note) : NONE);
        this.#values.show(
            known.map((value) => ({ ...value, at, key: `${value.id} ${value.market} ${value.outcome}` })),
        );
    }

    #takeRecord({ code, detail, note = "", ...record }) {
        byId("value-record").hidden = Boolean(code);
        this.#isRecordKnown = code !== "overloaded";
        const why = code === "no_archive" ? NO_ARCHIVE : `Not yet: ${detail}.`;
        if (code) return setText(byId("value-note"), why);
        const { all, by_bookmaker: bookmakers, by_age: ages } = record;
        setText(byId("value-note"), all.judged === 0 ? NOTHING : note && sentence(note));
        const names = new Map(this.#view?.bookmakers.map(({ id, name }) => [id, name]));
        const rows = [
            ["All", all],
            ...Object.entries(bookmakers).map(([id, group]) => [names.get(id) ?? id, group]),
            ...Object.entries(AGES).flatMap(([age, title]) => (ages[age] ? [[title, ages[age]]] : [])),
        ];
        this.#record.show(rows.map(([title, group]) => ({ key: title, title, group })));
    }

    #fillBet(cell, { fixture, home, away, start_time: start, market, outcome }) {
        if (cell.children.length === 0) cell.append(element("a"), element("small"));
        const [match, bet] = cell.children;
        const of = market === USUAL_MARKET ? {} : { market };
        match.setAttribute("href", `?${new URLSearchParams({ ...of, fixture })}`);
        setText(match, `${home} – ${away}`);
        const when = start === null ? "" : `, ${this.#view.clock.moment(start)}`;
        const leg = { market, outcome };
        const other = () => `${shortOf(marketOf(market))}: ${markOf(leg)}`;
        const title = market === USUAL_MARKET ? spokenOf(leg) : other();
        setText(bet, title + when);
    }

    #fillPrice(cell, { odds, bookmaker, confirmed, at }) {
        if (cell.children.length === 0) cell.append(element("b"), element("small"), element("small"));
        const [price, where, age] = cell.children;
        setText(price, this.#view.price(odds));
        setText(where, bookmaker);
        setText(age, `confirmed ${duration(Math.max(at - confirmed, 0))} ago`);
    }
}

function fillValue(cell, { ev, kelly, conditional }) {
    if (cell.children.length === 0) cell.append(element("b"), element("small"), element("small"));
    const [value, share, of] = cell.children;
    setText(value, percent(ev));
    setText(share, `Kelly ${percent(kelly)}`);
    setText(of, conditional ? "if not returned" : "");
}

const sentence = (note) => `${note[0].toUpperCase()}${note.slice(1)}.`;
const shareOf = (mean) => (mean === null ? "–" : percent(mean));

/** A mean with its standard error. */
function meanOf({ mean_clv: mean, standard_error: error }) {
    return mean !== null && error !== null ? `${percent(mean)} ± ${percent(error)}` : shareOf(mean);
}

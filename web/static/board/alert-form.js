// "Alert me" in the details of a match: a rule about it, for this browser, or as TOML for the service.

import { MOST_MARKETS, MOST_RULES, rulesOf, textOf, wordsOf } from "./alert-rule.js";
import { byId, setText } from "./dom.js";
import { showOptions } from "./draw.js";
import { idOf } from "./markets.js";
import { isAllowed } from "./notify.js";
import { teamOf, tomlOf } from "./toml.js";

const MARGIN = 1.05; // of the proposed price above the best
const PROPOSED_PROFIT = 1; // per cent
const REFUSED = "This browser does not allow this page to notify you.";
const INSECURE = " It needs an address with https, or localhost.";

/** Calls `onPrefer({ rules })` with the rules to remember. */
export class AlertForm {
    #form = byId("alert-form");
    #outcome = byId("alert-outcome");
    #bookmaker = byId("alert-bookmaker");
    #least = byId("alert-least");
    #toml = byId("alert-toml");
    #onPrefer;
    #match = null;
    #view = null;
    #state = null;
    #shown = ""; // the match and market of the fields

    constructor(onPrefer) {
        this.#onPrefer = onPrefer;
        this.#outcome.addEventListener("change", () => this.#propose());
        this.#form.addEventListener("input", () => this.#say(""));
        this.#form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#add();
        });
        byId("alert-as-toml").addEventListener("click", () => this.#form.reportValidity() && this.#write());
        byId("alert-copy").addEventListener("click", () => this.#copy());
    }

    /** Show the fields for this match; null or undefined for none. */
    show(match, names, view, state) {
        [this.#match, this.#view, this.#state] = [match ?? null, view, state];
        if (!match) return;
        const { key, market, offers } = match;
        const shown = `${idOf(key)} ${market.key}`;
        const isOther = shown !== this.#shown;
        this.#shown = shown;
        const bookmakers = [...offers.keys()].map((id) => ({ value: id, title: names.get(id) }));
        const every = [{ value: "", title: "any bookmaker" }, ...bookmakers];
        const { value } = this.#bookmaker;
        showOptions(this.#bookmaker, every, isOther ? "" : value);
        if (!isOther) return;
        const outcomes = market.outcomes.map(({ key: outcome, spoken }) => ({
            value: outcome,
            title: spoken,
        }));
        showOptions(this.#outcome, [...outcomes, { value: "", title: "surebet" }], outcomes[0].value);
        this.#propose();
        this.#say("");
    }

    /** Propose a value that is not reached yet, for the chosen outcome. */
    #propose() {
        const outcome = this.#outcome.value;
        const best = Math.max(1.01, ...this.#pricesOf(outcome, ""));
        const [least, most, value] = outcome
            ? [1.001, 10_000, (best * MARGIN).toFixed(2)]
            : [0, 100, PROPOSED_PROFIT];
        Object.assign(this.#least, { min: least, max: most, value });
        setText(byId("alert-unit"), outcome ? "Price from" : "Profit from, %");
    }

    #pricesOf(outcome, bookmaker) {
        const at = this.#match.market.outcomes.findIndex(({ key }) => key === outcome);
        const offers = [...this.#match.offers.values()].filter(
            (offer) => !bookmaker || offer.bookmaker === bookmaker,
        );
        return at < 0 ? [] : offers.map(({ prices }) => prices[at]);
    }

    /** The rule of the fields (alert-rule.js). */
    get #rule() {
        const { key, market, home, away, start } = this.#match;
        const [outcome, bookmaker] = [this.#outcome.value, this.#bookmaker.value];
        const at = bookmaker ? this.#bookmaker.selectedOptions[0].text : "";
        const given = this.#least.valueAsNumber;
        const least = outcome ? given : Number((given / 100).toPrecision(12));
        return { fixture: idOf(key), market: market.key, outcome, bookmaker, at, least, home, away, start };
    }

    async #add() {
        const [rule, shown] = [this.#rule, this.#shown];
        const holds = this.#holds(rule) ? " It holds now, so it has to end first." : "";
        const fault = (await isAllowed()) ? this.#keep(rule) : REFUSED + (isSecureContext ? "" : INSECURE);
        const added = `Added: ${wordsOf(rule, this.#view.price)}.${holds} Keep this page open.`;
        if (shown === this.#shown) this.#say(fault || added);
    }

    /** Keep a rule; returns why that is not possible, or nothing. */
    #keep(rule) {
        const rules = rulesOf(this.#state.preferences.rules, this.#state.minute * 60);
        const markets = new Set([...rules, rule].map(({ market }) => market));
        if (rules.length >= MOST_RULES) return `There are ${MOST_RULES} rules already: remove one first.`;
        if (markets.size > MOST_MARKETS)
            return `Rules are possible in ${MOST_MARKETS} markets: remove some first.`;
        this.#onPrefer({ rules: [...new Set([...rules.map(({ text }) => text), textOf(rule)])] });
        return "";
    }

    #holds({ outcome, bookmaker, least }) {
        if (outcome) return this.#pricesOf(outcome, bookmaker).some((price) => price >= least);
        return (this.#match.surebet?.profit ?? -1) >= least;
    }

    #say(text) {
        setText(byId("alert-said"), text);
        this.#toml.hidden = true;
    }

    #write() {
        this.#say("");
        const text = byId("alert-text");
        text.value = tomlOf(this.#match, this.#rule);
        text.rows = text.value.split("\n").length;
        setText(byId("alert-team"), teamOf(this.#match, this.#rule.outcome));
        this.#toml.hidden = false;
    }

    async #copy() {
        const text = byId("alert-text");
        try {
            await navigator.clipboard.writeText(text.value);
            setText(byId("alert-said"), "Copied.");
        } catch {
            text.select(); // without https there is no clipboard
            setText(byId("alert-said"), "Selected: copy it with the keyboard.");
        }
    }
}

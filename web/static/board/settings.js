// The settings of this device: the reader's bookmakers, how odds and times are written, notifications.

import { toggled } from "./choice.js";
import { ordered } from "./columns.js";
import { byId, element, setText } from "./dom.js";
import { isAllowed } from "./notify.js";
import { ODDS } from "./odds.js";

/**
 * The dialog of the settings. Calls `onChange(preferences)` with changed preferences, and `onShare()` to
 * put the bookmakers into the address.
 */
export class Settings {
    #dialog = byId("settings");
    #onChange;
    #bookmakers = []; // in the reader's order
    #preferences = null;
    #items = new Map();

    constructor(onChange, onShare) {
        this.#onChange = onChange;
        byId("open-settings").addEventListener("click", () => this.#dialog.showModal());
        byId("odds").replaceChildren(
            ...Object.entries(ODDS).map(([value, title]) => new Option(title, value)),
        );
        const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
        byId("time-zone").append(...zones.map((zone) => new Option(zone.replaceAll("_", " "), zone)));
        byId("odds").addEventListener("change", ({ target }) => onChange({ odds: target.value }));
        byId("time-zone").addEventListener("change", ({ target }) => onChange({ zone: target.value }));
        byId("all-bookmakers").addEventListener("click", () => onChange({ hidden: [], order: [] }));
        byId("no-bookmaker").addEventListener("click", () =>
            onChange({ hidden: this.#bookmakers.map(({ id }) => id) }),
        );
        byId("share").addEventListener("click", onShare);
        byId("notify").addEventListener("change", ({ target }) => this.#notify(target.checked));
    }

    async #notify(isWanted) {
        const notify = isWanted && (await isAllowed());
        byId("notify-refused").hidden = notify === isWanted;
        this.#onChange({ notify });
    }

    show({ bookmakers }, { preferences }) {
        this.#preferences = preferences;
        this.#bookmakers = ordered(bookmakers, preferences.order);
        byId("odds").value = preferences.odds;
        byId("time-zone").value = preferences.zone;
        byId("notify").checked = preferences.notify;
        const items = this.#bookmakers.map(({ id, name }, at) => this.#item(id, name, at));
        const list = byId("my-bookmakers");
        const isSame =
            items.length === list.children.length && items.every((item, at) => item === list.children[at]);
        if (!isSame) list.replaceChildren(...items);
    }

    #item(id, name, at) {
        if (!this.#items.has(id)) this.#items.set(id, this.#made(id));
        const item = this.#items.get(id);
        const [label, first, up, down] = item.children;
        const [box, text] = label.children;
        setText(text, name);
        box.checked = !this.#preferences.hidden.includes(id);
        first.ariaLabel = `Move ${name} to the top`;
        [up.ariaLabel, down.ariaLabel] = [`Move ${name} up`, `Move ${name} down`];
        first.disabled = up.disabled = at === 0;
        down.disabled = at === this.#bookmakers.length - 1;
        return item;
    }

    #made(id) {
        const box = element("input", "", { type: "checkbox" });
        box.addEventListener("change", () =>
            this.#onChange({ hidden: toggled(this.#preferences.hidden, id) }),
        );
        const buttons = [
            ["⤒", () => 0],
            ["↑", (at) => at - 1],
            ["↓", (at) => at + 1],
        ].map(([arrow, to]) => {
            const button = element("button", "quiet", { type: "button" }, arrow);
            button.addEventListener("click", () => this.#move(id, to, button));
            return button;
        });
        return element("li", "", {}, element("label", "", {}, box, element("span")), ...buttons);
    }

    /** Move a bookmaker from its place to the place that `to` returns for it. */
    #move(id, to, button) {
        const order = this.#bookmakers.map((bookmaker) => bookmaker.id);
        const at = order.indexOf(id);
        order.splice(at, 1);
        order.splice(to(at), 0, id);
        this.#onChange({ order });
        button.focus(); // the move in the document took its focus
    }
}

// The parts beside the list: details, settings, values, alerts and notifications.

import { AlertForm } from "./alert-form.js";
import { Alerts } from "./alerts.js";
import { Details } from "./details.js";
import { Notifier } from "./notify.js";
import { Settings } from "./settings.js";
import { ValueLists } from "./value-lists.js";

/** Shows views (view.js); its parts call `onClose`, `onPin`, `onPrefer`, `onMarket`, `onShare`, `onGo`. */
export class Beside {
    #details;
    #settings;
    #notifier = new Notifier();
    #values = new ValueLists();
    #alerts;
    #form;

    constructor({ onClose, onPin, onPrefer, onMarket, onShare, onGo }) {
        this.#details = new Details({ onClose, onPin, onPrefer, onMarket });
        this.#settings = new Settings(onPrefer, onShare);
        this.#alerts = new Alerts({ onPrefer, onGo });
        this.#form = new AlertForm(onPrefer);
    }

    show(view, state) {
        this.#showDetails(view, state);
        this.#settings.show(view, state);
        this.#notifier.show(view, state);
        this.#values.show(view);
        this.#alerts.show(view, state);
    }

    /** Before the first list it is unknown whether the board has a match. */
    #showDetails(view, state) {
        const { board, choice, preferences } = state;
        const isKnown = choice.fixture && view.trust !== "none";
        const match = isKnown ? board.match(choice.fixture) : null;
        this.#details.show(match, board.names, view, preferences);
        this.#form.show(match, board.names, view, state);
    }
}

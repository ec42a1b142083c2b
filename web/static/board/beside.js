// The parts beside the list: details, settings, values and notifications.

import { Details } from "./details.js";
import { Notifier } from "./notify.js";
import { Settings } from "./settings.js";
import { ValueLists } from "./value-lists.js";

/** Shows views (view.js); its parts call `onClose`, `onPin`, `onPrefer`, `onMarket`, `onShare`. */
export class Beside {
    #details;
    #settings;
    #notifier = new Notifier();
    #values = new ValueLists();

    constructor({ onClose, onPin, onPrefer, onMarket, onShare }) {
        this.#details = new Details({ onClose, onPin, onPrefer, onMarket });
        this.#settings = new Settings(onPrefer, onShare);
    }

    show(view, state) {
        this.#showDetails(view, state);
        this.#settings.show(view, state);
        this.#notifier.show(view, state);
        this.#values.show(view, state);
    }

    /** Before the first list it is unknown whether the board has a match. */
    #showDetails(view, { board, choice, preferences }) {
        const isKnown = choice.fixture && view.trust !== "none";
        const match = isKnown ? board.match(choice.fixture) : null;
        this.#details.show(match, board.names, view, preferences);
    }
}

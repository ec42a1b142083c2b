// Sets light or dark before the page is drawn: the reader's choice, or else the system's theme.
// A classic script because a module would run after the first paint.
(() => {
    "use strict";

    const KEY = "oddsboard.theme";
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;

    // Storage may be blocked; the choice then lasts as long as the page.
    const remembered = () => {
        try {
            return localStorage.getItem(KEY);
        } catch {
            return null;
        }
    };
    const remember = (theme) => {
        try {
            localStorage.setItem(KEY, theme);
        } catch {
            // the choice is not stored
        }
    };
    const system = () => (dark.matches ? "dark" : "light");
    const show = (theme) => {
        root.dataset.theme = theme;
        document.getElementById("theme")?.setAttribute("aria-pressed", String(theme === "dark"));
    };
    // Choosing the system's theme removes the choice, and the page follows the system again.
    const choose = (theme) => {
        remember(theme === system() ? "" : theme);
        show(theme);
    };

    show(remembered() || system());
    dark.addEventListener("change", () => show(remembered() || system()));
    addEventListener("storage", (event) => event.key === KEY && show(event.newValue || system()));
    addEventListener("DOMContentLoaded", () => {
        show(root.dataset.theme);
        document.getElementById("theme").addEventListener("click", () => {
            choose(root.dataset.theme === "dark" ? "light" : "dark");
        });
    });
})();

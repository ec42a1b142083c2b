// Sets light or dark before the page is drawn: the reader's choice, or else ("Auto") the system's theme.
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
    const chosen = (theme) => (["light", "dark"].includes(theme) ? theme : "");
    let theme = chosen(remembered());
    const show = () => {
        root.dataset.theme = theme || system();
        const button = document.getElementById("theme");
        if (button === null) return;
        button.textContent = { "": "Auto", light: "Light", dark: "Dark" }[theme];
        button.title = button.ariaLabel = `Theme: ${button.textContent}`;
    };
    // First the other theme than the system's, then the system's in any case, then whatever the system has.
    const next = () => {
        const other = system() === "dark" ? "light" : "dark";
        return { "": other, [other]: system() }[theme] ?? "";
    };

    show();
    dark.addEventListener("change", show);
    addEventListener("storage", ({ key, newValue }) => {
        if (key !== KEY) return;
        theme = chosen(newValue);
        show();
    });
    addEventListener("DOMContentLoaded", () => {
        show();
        document.getElementById("theme").addEventListener("click", () => {
            theme = next();
            remember(theme);
            show();
        });
    });
})();

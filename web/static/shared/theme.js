// Sets light or dark before the page is drawn: the reader's choice, or with "Auto" the system's theme.
// Tells the reader if a script or a style sheet cannot be loaded, and reloads the page once it can.
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
    // First the theme that is not the system's, then the system's, then "Auto".
    const next = () => {
        const other = system() === "dark" ? "light" : "dark";
        return { "": other, [other]: system() }[theme] ?? "";
    };

    const AGAIN_MS = 10_000;
    const missing = new Set();
    let again = 0;
    // Only when all missing files are there: an error of a busy service must not replace the page.
    const tryAgain = async () => {
        const answers = [...missing].map((url) => fetch(url, { cache: "no-cache" }));
        const found = await Promise.all(answers).catch(() => [{ ok: false }]);
        if (found.every(({ ok }) => ok)) location.reload();
    };
    const [said, text, button] = ["p", "span", "button"].map((tag) => document.createElement(tag));
    said.className = "warning";
    said.role = "alert";
    button.type = "button";
    button.textContent = "Try again";
    button.addEventListener("click", tryAgain);
    said.append(text, button);
    // Odds can be read without a style sheet, so the reader decides. Without a script there are no odds.
    const note = ({ target }) => {
        const isScript = target.tagName === "SCRIPT";
        if (!isScript && target.rel !== "stylesheet") return;
        const isFirst = missing.size === 0;
        missing.add(target.src ?? target.href);
        if (isScript) {
            text.textContent = "A script could not be loaded, so this page does not work. ";
            again ||= setInterval(tryAgain, AGAIN_MS * (1 + Math.random()));
        } else text.textContent ||= "A style sheet could not be loaded, so this page looks wrong. ";
        if (!isFirst) return;
        if (document.body === null) addEventListener("DOMContentLoaded", () => document.body.prepend(said));
        else document.body.prepend(said);
    };

    show();
    addEventListener("error", note, true); // such an event does not bubble
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

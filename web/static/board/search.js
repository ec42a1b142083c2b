// Finds matches by words. Pure.

const SHORT = 3; // a word of fewer characters has to begin a word

/** Text without case and accents: "gremio" finds "Grêmio". */
export function folded(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * What a match is found by: every spelling of its teams, and every label of its league with the country.
 */
export function sought(teams, leagues) {
    return { teams: ` ${folded(teams.join(" "))} `, leagues: ` ${folded(leagues.join(" "))} ` };
}

/**
 * The function that says whether what is `sought` has these words: all in the teams or all in the league,
 * or first those of the one and then those of the other. "serie b" is no team of Serie A that begins with
 * B.
 */
export function finder(text) {
    const words = folded(text).split(/\s+/).filter(Boolean);
    const splits = words.map((_, at) => [words.slice(0, at), words.slice(at)]);
    const mixed = splits.filter((parts) =>
        parts.every((part) => part.some(({ length }) => length >= SHORT)),
    );
    return ({ teams, leagues }) => {
        const inTeams = (part) => part.every((word) => isIn(teams, word));
        const inLeague = (part) => part.every((word) => isIn(leagues, word, " "));
        return (
            inTeams(words) ||
            inLeague(words) ||
            mixed.some(([some, others]) => inTeams(some) && inLeague(others)) ||
            mixed.some(([some, others]) => inLeague(some) && inTeams(others))
        );
    };
}

/** `end` is what follows a single letter or digit: in a league's name it is a word, as in "Serie B". */
function isIn(text, word, end = "") {
    if (word.length >= SHORT) return text.includes(word);
    return text.includes(` ${word}${word.length === 1 ? end : ""}`);
}

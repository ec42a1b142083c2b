// Finds matches by words. Pure.

const SHORT = 3; // a shorter text must begin a word

/** Text without case and accents: "gremio" finds "Grêmio". */
export function folded(text) {
    return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * The searched texts of a match: all spellings of its teams, and all labels of its league with the country.
 */
export function sought(teams, leagues) {
    return { teams: ` ${folded(teams.join(" "))} `, leagues: ` ${folded(leagues.join(" "))} ` };
}

/**
 * A function that returns whether a match's texts (`sought`) have these words: all in the teams or all in
 * the league, or first words of the one and then words of the other. "serie b" does not find a team in
 * Serie A that begins with B.
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

/** `end` must follow a single letter or digit: in a league's name it is a whole word, as in "Serie B". */
function isIn(text, word, end = "") {
    if (word.length >= SHORT) return text.includes(word);
    return text.includes(` ${word}${word.length === 1 ? end : ""}`);
}

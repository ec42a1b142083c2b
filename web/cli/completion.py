"""Makes scripts that complete the command line in a shell, from the parser itself. Pure."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
COMPLETES = "print a script that completes commands, options and values in a shell"

_BASH = """\
# Completion of oddsboard for bash: source <(oddsboard completion bash)
_oddsboard() {{
    local at="" offered="" word
    local last="${{COMP_WORDS[$((COMP_CWORD-1))]}}" begun="${{COMP_WORDS[$COMP_CWORD]}}"
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
        case "$at $word" in
{commands}
        esac
    done
    case "$at|$last" in
{values}
        *) case "$at|$begun" in
{words}
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$offered" -- "$begun"))
}}
complete -o bashdefault -o default -F _oddsboard oddsboard"""
_ZSH = """\
# Completion of oddsboard for zsh: source <(oddsboard completion zsh)
(( $+functions[compdef] )) || {{ autoload -U +X compinit && compinit }}
autoload -U +X bashcompinit && bashcompinit
{bash}"""


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script for one of `SHELLS`; it completes commands, options and the values of options."""
    if shell == "fish":
        return "\n".join(
            ["# Completion of oddsboard for fish: oddsboard completion fish | source", *_fish(parser)]
        )
    bash = _bash(parser)
    return _ZSH.format(bash=bash) if shell == "zsh" else bash


def _bash(parser: argparse.ArgumentParser) -> str:
    commands, values, words = [], [], []
    for path, found in _parsers(parser):
        at = "".join(f" {name}" for name in path)
        if path:
            commands.append(f'            "{" ".join(["", *path[:-1]])} {path[-1]}") at="{at}" ;;')
        options = [option for action in found._actions for option in action.option_strings]  # noqa: SLF001 - argparse has no public way to list its options
        words.append(_case([f'"{at}|-"*'], options))
        words.append(_case([f'"{at}|"*'], _choices(found)))
        for action in found._actions:  # noqa: SLF001 - the same
            if action.option_strings and action.nargs != 0:
                patterns = [f'"{at}|{option}"' for option in action.option_strings]
                values.append(_case(patterns, [*map(str, action.choices or ())]))
    return _BASH.format(commands="\n".join(commands), values="\n".join(values), words="\n".join(words))


def _case(patterns: list[str], words: list[str]) -> str:
    """Return the case of a script that offers `words`; without words the shell offers files."""
    return f'        {"|".join(patterns)}) offered="{" ".join(words)}" ;;'


def _fish(parser: argparse.ArgumentParser) -> Iterator[str]:
    for path, found in _parsers(parser):
        seen = "; and ".join(f"__fish_seen_subcommand_from {name}" for name in path)
        below = [name for name, _ in _commands(found)]
        not_below = f"not __fish_seen_subcommand_from {' '.join(below)}" if below else ""
        where = "; and ".join(filter(None, [seen, not_below])) or "true"
        for name in _choices(found):
            yield f"complete -c oddsboard -f -n '{where}' -a {name}"
        for action in found._actions:  # noqa: SLF001 - the same
            for option in action.option_strings:
                kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                values = f" -x -a '{' '.join(map(str, action.choices))}'" if action.choices else ""
                yield f"complete -c oddsboard -n '{seen or 'true'}' {kind}{values}"


def _parsers(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Yield a parser and the parsers of its commands, each with the words of its command."""
    yield path, parser
    for name, command in _commands(parser):
        yield from _parsers(command, (*path, name))


def _commands(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001 - the same
    return [pair for action in found for pair in action.choices.items()]


def _choices(parser: argparse.ArgumentParser) -> list[str]:
    """Return the words that the next argument may be: names of commands, or an argument's choices."""
    positional = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001 - the same
    return [str(choice) for action in positional for choice in action.choices or ()]

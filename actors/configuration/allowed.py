"""Describes in words the values that an option allows, from the annotations that msgspec checks."""

from __future__ import annotations

import re
import types
from contextlib import suppress
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import FieldInfo, fields

from actors.core.nearest import did_you_mean

_PLAIN = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
_COUNTS = {1: "one", 2: "two", 3: "three"}
_BOUNDS = (("gt", "above"), ("ge", "at least"), ("lt", "below"), ("le", "at most"))


class Option(Struct, frozen=True):
    """A key of a table. `meaning` may be empty; a `default` of None says that the key is required."""

    name: str
    allowed: str
    meaning: str
    default: str | None


@lru_cache(maxsize=64)  # reading annotations takes a millisecond
def options_of(table: type[Struct]) -> dict[str, Option]:
    """Return the keys of a table by name, in order."""
    hints = get_type_hints(table, include_extras=True)
    return {
        field.encode_name: Option(
            field.encode_name,
            allowed(hints[field.name]),
            next((meta.description for meta in _metas(hints[field.name]) if meta.description), ""),
            None if field.required else _default(_default_of(field)),
        )
        for field in fields(table)
    }


def allowed(hint: Any) -> str:
    """Return in words the values that an annotation allows: the `title` of its `Meta`, if it has one."""
    metas = _metas(hint)
    if (title := next((meta.title for meta in metas if meta.title), None)) is not None:
        return title
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    parts = [part for part in get_args(kind) if part is not type(None)]
    match get_origin(kind):
        case origin if origin in {Union, types.UnionType}:
            return ", or ".join(map(allowed, parts))
        case origin if origin is tuple:
            return f"a list{_length(parts, metas)}, each {allowed(parts[0])}"
        case origin if origin is dict:
            return f"a table of {allowed(parts[0])} = {allowed(parts[1])}"
    if choices := _choices(kind):
        return " or ".join(f'"{choice}"' for choice in choices)
    return _simple(kind, metas)


def _length(parts: list[Any], metas: list[Meta]) -> str:
    if Ellipsis not in parts:
        return f" of {_COUNTS.get(len(parts), len(parts))}"
    lengths = [(meta.min_length or 0, meta.max_length) for meta in metas if meta.min_length]
    if not lengths:
        return ""
    least, most = lengths[0]
    return f" of at least {_COUNTS.get(least, least)}{'' if most is None else f' and at most {most}'}"


def _simple(kind: Any, metas: list[Meta]) -> str:
    if options := _options(kind):
        return f"a table with {', '.join(options)}"
    plain = _PLAIN.get(getattr(kind, "__supertype__", kind), "a table")
    return " ".join(filter(None, [plain, _range(metas)]))


def refusals(raw: Any, given: Any, table: type[Any], at: str) -> dict[str, list[str]]:
    """Return the faults of each unusable key of a table, a sentence a fault.

    `given` is the table at the place `at`; `raw` is the table as written in the file, which faults quote. A
    key whose value is msgspec.UNSET has an empty list: its fault is reported elsewhere. If `given` is not a
    table the fault has the key "".
    """
    if not isinstance(given, dict):
        return {"": [refusal("Expected a table", raw, table, at)]}
    hints, found = _hints(table), {}
    known = {field.encode_name: field for field in fields(table)}
    for key, value in given.items():
        hint: Any = hints[known[key].name] if key in known else None
        if _options(hint) and isinstance(value, dict):
            inside = refusals(raw[key], value, hint, f"{at}.{key}".lstrip("."))
            wrong = None if not inside else [fault for faults in inside.values() for fault in faults]
        elif _is_unset(value):
            wrong = []
        else:
            message = _message(key, value, hint, is_strict=table.__struct_config__.forbid_unknown_fields)
            wrong = None if message is None else [refusal(message, raw, table, at)]
        if wrong is not None:
            found[key] = wrong
    for key, field in known.items():
        if field.required and key not in given:
            found[key] = [refusal(f"missing required field `{key}`", raw, table, at)]
    return found


def _message(key: str, value: Any, hint: Any, *, is_strict: bool) -> str | None:
    """Return msgspec's message if a key's value does not fit its annotation `hint`, otherwise None."""
    if hint is None:
        return f"unknown field `{key}`" if is_strict else None
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$")
        if path.startswith("[...]"):  # in a table whose keys the operator chooses
            (found,) = [name for name, item in value.items() if not _is(item, _item_of(hint))][:1]
            path = f".{found}`"
        return f"{text} - at `$.{key}{path or '`'}"
    return None


def _is(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        return False
    return True


def _item_of(hint: Any) -> Any:
    """Return the annotation of the values of a table whose keys the operator chooses, otherwise Any."""
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return get_args(kind)[1] if get_origin(kind) is dict else Any


def _is_unset(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is msgspec.UNSET or any(map(_is_unset, parts))


def refusal(message: str, raw: Any, table: type, at: str) -> str:
    """Turn msgspec's "Expected ... - at `$.a.b`" into a sentence with key, value and allowed values.

    `raw` is the content of the file at the place `at`, which was checked as a `table`.
    """
    text, _, path = message.partition(" - at `")
    keys = re.findall(r"\.([^.\[\]`]+)", path)
    place, value, hint = ".".join(filter(None, [at, *keys])), raw, Any
    options = _options(table)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
        hint = _hints(table).get(key, _item_of(hint))
        options = _options(hint)
        table = hint
    if field := re.search("(unknown|missing required) field `(.+)`", text):
        name, known = field[2], [name for name in options if name != "kind"]
        where = f"{place}.{name}".lstrip(".")
        if field[1] == "unknown":
            return f"{where} is not an option, must be one of {', '.join(known)}{did_you_mean(name, known)}"
        option = options[name]
        meaning = option.meaning.removesuffix(".")
        means = f": {meaning[0].lower()}{meaning[1:]}" if meaning else ""
        return f"{where} is missing, must be {option.allowed}{means}"
    near = _suggestion(value, hint) if isinstance(value, str) else ""
    return f"{place or 'the file'} was {value!r}, must be {allowed(hint) if keys else 'a table'}{near}"


def _options(hint: Any) -> dict[str, Option]:
    return options_of(hint) if isinstance(hint, type) and issubclass(hint, Struct) else {}


def _hints(table: Any) -> dict[str, Any]:
    return get_type_hints(table, include_extras=True) if _options(table) else {}


def _suggestion(text: str, hint: Any) -> str:
    """Return a "did you mean" with the nearest allowed text, or with a list in place of the text."""
    if not (near := did_you_mean(text, _choices(hint))):
        with suppress(msgspec.ValidationError, TypeError):
            parts = [part for part in re.split(r"[,\s]+", text) if part]
            msgspec.convert(parts, hint)
            near = "; did you mean [{}]?".format(", ".join(f'"{part}"' for part in parts)) if parts else ""
    return near


def _choices(hint: Any) -> list[str]:
    """Return the allowed texts of an enumeration or a Literal; empty for other annotations."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return [*hint]
    parts = get_args(hint)
    if get_origin(hint) is Literal:
        return [part for part in parts if isinstance(part, str)]
    return [choice for part in parts for choice in _choices(part)]


def _range(metas: list[Meta]) -> str:
    bounds = {
        name: value for meta in metas for name, _ in _BOUNDS if (value := getattr(meta, name)) is not None
    }
    lengths = [meta for meta in metas if meta.min_length is not None or meta.max_length is not None]
    if lengths:
        least, most = lengths[0].min_length or 0, lengths[0].max_length
        return f"of at least {least} character" if most is None else f"of {least} to {most} characters"
    if bounds.keys() == {"ge", "le"}:
        return f"from {_figure(bounds['ge'])} to {_figure(bounds['le'])}"
    return " and ".join(f"{word} {_figure(bounds[name])}" for name, word in _BOUNDS if name in bounds)


def _figure(value: float) -> str:
    return f"{value:,.15g}".removesuffix(".0")


def _metas(hint: Any) -> list[Meta]:
    """Return the `Meta` of an annotation, the outermost first."""
    return [meta for meta in getattr(hint, "__metadata__", ()) if isinstance(meta, Meta)][::-1]


def _default_of(field: FieldInfo) -> object:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


def _default(value: object) -> str:
    match value:
        case None:
            return "not set"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(map(_default, value))}]"
        case _:
            return str(value)

"""The source of both packages as syntax trees, for tests of rules about the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def files() -> dict[str, Path]:
    """Return the file of every module."""
    found = sorted(file for package in ("actors", "web") for file in (ROOT / package).rglob("*.py"))
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in found
    }


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module."""
    return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files().items()}


def imported(module: str) -> Iterator[str]:
    """Return the full names of all imports of `module`, at any depth."""
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module if files()[module].stem == "__init__" else module.rpartition(".")[0]
            assert node.level < (2 if module.startswith("web.client") else 1), (
                f"{module} has a relative import"
            )
            named = ".".join(part for part in (package if node.level else "", node.module) if part)
            yield from (f"{named}.{alias.name}" for alias in node.names)


def modules_imported(module: str) -> set[str]:
    """Return the project's modules among the imports; for a name imported from a module, that module."""
    found = {name if name in modules() else name.rpartition(".")[0] for name in imported(module)}
    return found & set(modules())


@cache
def names_used(module: str) -> set[str]:
    """Return every dotted name in `module` as written, such as `time.time`."""
    nodes = ast.walk(modules()[module])
    return {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute | ast.Name)}


def is_any_of(name: str, prefixes: set[str]) -> bool:
    """Return whether `name` is one of these modules or inside one of them."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)

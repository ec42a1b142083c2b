"""The documents match the code: links, paths, references, keys, endpoints, events and reasons exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from actors.alerts.receivers.options import ReceiverSettings
from actors.alerts.rules.rule import RULES
from actors.archive.folder import ArchiveSettings
from actors.board.history import HistoryLimits
from actors.board.snapshot import RemovalReason
from actors.board.validity import BoardRules
from actors.core.limits import Limits
from actors.core.validation import Reason
from actors.matches.fair import FairRules
from actors.matches.surebets import SurebetRules
from actors.matching.rules import Rule
from actors.monitoring.status import BookmakerState
from actors.runtime.facts import FACTS, Transition
from actors.service.alerting.tables import AlertsSettings
from actors.service.registry import BUILT_IN
from actors.service.settings import BookmakerSettings, LinksSettings, ServerSettings
from actors.source_api.kinds import PolledKind
from scripts.operations_tables import written
from tests.support.documents import (
    DOCUMENTS,
    anchors,
    blocks,
    document,
    quoted,
    rows,
    section,
)
from tests.support.source_code import ROOT, modules
from tests.support.systems.site import open_site
from web.encoding.fixture_schemas import FairReason
from web.protocol.problems import CODES

EACH = pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
TABLES: dict[str, type[Struct]] = {
    "server": ServerSettings,
    "board": BoardRules,
    "history": HistoryLimits,
    "archive": ArchiveSettings,
    "alerts": AlertsSettings,
    "limits": Limits,
    "links": LinksSettings,
    "fair": FairRules,
    "surebets": SurebetRules,
    "receivers.ID": ReceiverSettings,
    "bookmakers.ID": BookmakerSettings,
}
LOGGER = re.compile(r"log(ger\(\))?\.(debug|info|warning|error|critical|exception)$")


@EACH
def test_links_resolve(file: Path) -> None:
    """Every relative link of a document names a file of the repository, and a heading in it."""
    links = re.findall(r"\]\(([^)\s]+)\)", file.read_text("utf-8"))
    own = [link.partition("#") for link in links if not link.startswith(("http://", "https://"))]
    targets = [(file.parent / path if path else file, anchor) for path, _, anchor in own]

    assert [] == [path for path, _ in targets if not path.exists()]
    assert [] == [
        (path, anchor)
        for path, anchor in targets
        if anchor and anchor not in anchors(path.read_text("utf-8"))
    ]


@EACH
def test_paths_exist(file: Path) -> None:
    """Every path in code quotes that begins with a folder of ours exists, with or without its `.py`."""
    paths = re.findall(r"`((?:actors|web|tests|scripts|config|docs)/[\w./-]+)`", file.read_text("utf-8"))
    assert [] == [
        path for path in paths if not any((ROOT / name).exists() for name in (path, f"{path}.py"))
    ]


@EACH
def test_references_exist(file: Path) -> None:
    """Every `file.py:name` names a function, class or constant of that file."""
    references = re.findall(r"`([\w./-]+\.py):([\w.]+)`", file.read_text("utf-8"))

    assert [] == [
        f"{path}:{name}"
        for path, name in references
        if not (ROOT / path).is_file() or name not in _defined(ast.parse((ROOT / path).read_text("utf-8")))
    ]


def test_the_picture_names_existing_modules() -> None:
    """In the picture of a price, `package/module` is a file of `actors` or `web`."""
    picture = "\n".join(blocks(document("docs/architecture.md"))[0].lines)
    named = set(re.findall(r"(?<![\w/])(?:web/)?[a-z_]+/[a-z_]+\b", picture))

    assert "pipeline/aggregator" in named
    assert set() == {
        name
        for name in named
        if not any((ROOT / f"{text}.py").is_file() for text in (name, f"actors/{name}"))
    }


def test_every_fault_that_the_code_cites_is_documented() -> None:
    """An id after `faults.md` is a row of docs/faults.md, a single letter a section; no id occurs twice."""
    ids = [row[0] for row in rows(document("docs/faults.md"))]
    sections = re.findall(r"^## ([A-K])\. ", document("docs/faults.md"), re.MULTILINE)
    files = [*ROOT.glob("actors/**/*.py"), *ROOT.glob("web/**/*.py"), *ROOT.glob("tests/**/*.py")]
    cited = {
        row
        for file in files
        for found in re.findall(r"faults\.md, ((?:[A-K]\d*b?(?:, )?)+)", file.read_text("utf-8"))
        for row in re.findall(r"[A-K]\d*b?", found)
    }

    assert len(ids) == len(set(ids))
    assert set() == cited - {*ids, *sections}


def test_documents_cited_by_the_code_exist() -> None:
    """A document named in the code is in the repository, and so is the section that the code cites."""
    sections = set(re.findall(r"^#+ ([\d.]*\d)\.? ", document("docs/api.md"), re.MULTILINE))
    texts = {
        file.relative_to(ROOT): file.read_text("utf-8")
        for folder in ("actors", "web", "tests", "scripts", "config")
        for file in (ROOT / folder).rglob("*.*")
        if file.suffix in {".py", ".toml"} and file != Path(__file__)
    }

    assert [] == [
        (file, name)
        for file, text in texts.items()
        for name in re.findall(r"\b[\w-]+\.md\b|\bdesign \d", text)
        if not any((ROOT / folder / name).is_file() for folder in ("", "docs"))
    ]
    assert [] == [
        (file, number)
        for file, text in texts.items()
        for cited in re.findall(r"api\.md, ([\d., and]*\d)", text)
        for number in re.findall(r"[\d.]*\d", cited)
        if number not in sections
    ]


@pytest.mark.parametrize("table", TABLES)
def test_every_key_of_the_configuration_is_documented(table: str) -> None:
    """Every key is documented with its default, and every documented key exists."""
    text = document("docs/configuration.md")

    assert _declared(TABLES[table]) == _documented(section(text, f"## `[{table}]`"))


def test_every_key_of_a_rule_is_documented() -> None:
    """The table of [[alert]] has the keys of all kinds of rule, and the default of each."""
    declared = {key: default for rule in RULES.values() for key, default in _declared(rule).items()}
    declared["when"] = "*required*"  # each kind of rule has its own `when`
    documented = _documented(section(document("docs/configuration.md"), "## `[[alert]]`"))

    assert declared == documented


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_option_of_a_kind_is_documented(name: str) -> None:
    """Options of all kinds, of polled kinds and of one kind are documented; a kind's own text is first."""
    text, kind = document("docs/configuration.md"), BUILT_IN[name]
    documented = _documented(section(text, "## `[sources.NAME]`"))
    if isinstance(kind, PolledKind):
        documented |= _documented(section(text, "### Polled kinds"))
    documented |= _documented(section(text, f"### `{name}`"))

    assert _declared(kind.options) == documented


def test_examples_of_the_configuration_are_toml() -> None:
    """Every TOML block of every document can be parsed."""
    for file in DOCUMENTS:
        for block in blocks(file.read_text("utf-8")):
            if block.language == "toml":
                tomllib.loads("\n".join(block.lines))


@pytest.mark.anyio
async def test_documented_endpoints_equal_the_real_ones() -> None:
    """Documented endpoints have the parameters that the capabilities list."""
    async with open_site() as site:
        capabilities = await site.json("/api/capabilities")
    listed = list(rows(document("docs/api.md").partition("\n## ")[0]))
    filters = {quoted(path)[0]: quoted(parameters) for path, _, parameters in listed if quoted(parameters)}

    assert sorted(capabilities["endpoints"]) == sorted(quoted(path)[0] for path, *_ in listed)
    assert capabilities["filters"] == filters


def test_documented_problems_equal_the_real_ones() -> None:
    """Every code is documented with its status, and every documented code exists."""
    table = rows(section(document("docs/api.md"), "## Errors"))

    assert {code: int(row[0]) for row in table for code in quoted(row[1])} == CODES


@pytest.mark.anyio
async def test_documented_metrics_equal_the_real_ones() -> None:
    """Every field of `/api/stats`, and of each entry in `/monitor` and its `fixtures`, is documented."""
    async with open_site() as site:
        site.status.actors["aggregator"] = site.status.board.actor
        site.status.log.journal.note(Transition("service.stopping", "service", 0.0, {}))
        stats, monitor = await site.json("/api/stats"), await site.json("/monitor")
    entries = [monitor[name][0] for name in ("actors", "sources", "bookmakers")]
    entries += [monitor["fixtures"], monitor["events"][0]]
    tables = section(document("docs/operations.md"), "## Metrics").split("\n| field of ")[1:]
    documented = [sorted(name for row in rows(f"| {table}") for name in quoted(row[0])) for table in tables]

    assert [sorted(figure) for figure in (*stats.values(), *entries)] == documented


def test_tables_of_operations_are_those_of_the_source() -> None:
    """`scripts/operations` writes them: every metric with its labels, every log event with its level."""
    text = document("docs/operations.md")

    assert written(text) == text


def test_documented_log_events_equal_the_real_ones() -> None:
    """Every kind is announced somewhere; an event that is only logged is at level debug."""
    announced = [kind for function, kind in _logged() if function == "announce"]
    logged = [kind for function, kind in _logged() if function != "announce"]

    assert set(FACTS) == {*announced, *logged}
    assert {"debug"} == {FACTS[kind].level for kind in logged}
    assert set() == {*announced} & {*logged}


@pytest.mark.parametrize(
    ("file", "heading", "names"),
    [
        ("docs/operations.md", "## Rejected matches", Reason),
        ("docs/operations.md", "## Probes", BookmakerState),
        ("docs/api.md", "## Changes", RemovalReason),
        ("docs/api.md", "### Links", Rule),
        ("docs/api.md", "### Fair odds", FairReason),
    ],
    ids=["reasons", "states", "departures", "rules", "lacks of fair odds"],
)
def test_every_name_of_a_closed_set_is_documented(file: str, heading: str, names: Any) -> None:
    """The last table under that heading has every name, in any order."""
    table = re.findall(r"(?:^\|.*\|$\n?)+", section(document(file), heading), re.MULTILINE)[-1]

    assert sorted(names) == sorted(quoted(row[0])[0] for row in rows(table))


def test_the_read_me_is_short() -> None:
    """The README is an introduction; longer explanations have their own document."""
    assert len(document("README.md").splitlines()) <= 125


def _declared(kind: type[Struct]) -> dict[str, str]:
    """Return each key with its default as the documents write it."""
    return {
        field.encode_name: "*required*" if field.required else _written(_default_of(field))
        for field in msgspec.structs.fields(kind)
    }


def _default_of(field: msgspec.structs.FieldInfo) -> Any:
    factory = field.default_factory
    return field.default if factory is msgspec.NODEFAULT else factory()


def _written(default: Any) -> str:
    return "`none`" if default is None else f"`{msgspec.json.encode(default).decode()}`"


def _documented(text: str) -> dict[str, str]:
    return {quoted(row[0])[0]: row[1] for row in rows(text) if len(row) == 3}


def _defined(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    """Return every name that a module or class defines, a class's own names with its name before them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from _defined(node, f"{prefix}{node.name}.")
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (prefix + target.id for target in targets if isinstance(target, ast.Name))


def _logged() -> Iterator[tuple[str, str]]:
    """Return the function and the kind of each transition in the code, and of each line of a logger."""
    for tree in modules().values():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and node.args):
                continue
            function = ast.unparse(node.func)
            if function == "announce":
                yield function, ast.literal_eval(node.args[1])
            elif LOGGER.search(function) and isinstance(node.args[0], ast.Constant):
                yield function, ast.literal_eval(node.args[0])

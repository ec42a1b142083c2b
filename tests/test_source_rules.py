"""Rules for every source file: no effects on import, sizes, and calls allowed in one place only."""

from __future__ import annotations

import ast
import re
from collections import Counter

from tests.support.source_code import (
    ROOT,
    files,
    imported,
    is_any_of,
    modules,
    modules_imported,
    names_used,
)
from tests.support.systems.process import ran

FOLDERS = ("actors", "scripts", "tests", "web")
MAX_PACKAGE_LINES = 2700
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 40
MAX_IMPORTS = 15  # of modules of other packages
COMPOSITION_ROOTS = {
    "actors.recordings.playback",  # a service without actors, whose only source is a recording
    "actors.service.clustering",
    "actors.service.registry",
    "actors.service.system",
    "web.cli.main",
    "web.app",
}
_CLAUSE = re.compile(r"(What|Who|Which|That of|Those (of|that|who)|So (is|are|does|do)|Nor)\b").match

IMPORT_ALL = """
import importlib, logging, signal, sys, threading
import structlog
for name in sys.argv[1:]:
    importlib.import_module(name)
assert threading.active_count() == 1, threading.enumerate()
assert not logging.getLogger().handlers and not structlog.is_configured()
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
"""


def _package(module: str) -> str:
    return module if files()[module].stem == "__init__" else module.rpartition(".")[0]


def _lines(module: str) -> int:
    return len(files()[module].read_text(encoding="utf-8").splitlines())


def _broad_handlers(module: str) -> list[int]:
    """Return the lines that catch everything: bare, Exception, BaseException, or suppressed."""
    lines = []
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.ExceptHandler):
            caught = (
                {"BaseException"}
                if node.type is None
                else {ast.unparse(kind) for kind in ast.walk(node.type)}
            )
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            caught = {ast.unparse(arg) for arg in node.args}
        else:
            continue
        if caught & {"Exception", "BaseException"}:
            lines.append(node.lineno)
    return lines


def test_importing_everything_does_nothing() -> None:
    """In a fresh interpreter no import prints, starts a thread, sets up logs or catches a signal."""
    assert (0, "", "") == ran("-c", IMPORT_ALL, *modules())


def test_packages_are_small() -> None:
    """No package has more than 2,700 lines, without the lines of its subpackages."""
    lines = Counter[str]()
    for module in files():
        lines[_package(module)] += _lines(module)

    assert {} == {package: count for package, count in lines.items() if count > MAX_PACKAGE_LINES}


def test_files_are_short() -> None:
    """No file is longer than 450 lines."""
    lines = {module: _lines(module) for module in files()}

    assert {} == {module: count for module, count in lines.items() if count > MAX_FILE_LINES}


def test_modules_know_few_others() -> None:
    """Modules import at most 15 modules of other packages; only composition roots may import more."""
    known = {
        module: sum(_package(other) != _package(module) for other in modules_imported(module))
        for module in modules().keys() - COMPOSITION_ROOTS
    }

    assert {} == {module: count for module, count in known.items() if count > MAX_IMPORTS}


def test_functions_are_short() -> None:
    """No function is longer than 40 lines, its docstring included."""
    lengths = [
        (module, node.name, (node.end_lineno or 0) - node.lineno + 1)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]

    assert [] == [length for length in lengths if length[-1] > MAX_FUNCTION_LINES]


def test_only_five_places_catch_everything() -> None:
    """`except Exception` is in the supervisor's child loop, in the web error handler and before it.

    At the start, other packages may raise anything: when they are loaded, and when they check options.
    """
    catching = {module for module in modules() if _broad_handlers(module)}

    assert set() == catching - {
        "actors.runtime.supervisor",
        "actors.service.registry",
        "actors.service.settings",
        "web.protocol.quart_setup",
        "web.protocol.sending",
    }


def test_every_task_of_an_actor_handles_errors() -> None:
    """A background task of an actor may run a kind's code, which must not end the event loop."""
    started = {
        ast.unparse(node.args[0])
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if module.startswith("actors.pipeline.") and isinstance(node, ast.Call)
        if ast.unparse(node.func).endswith(("start_soon", "create_task"))
    }

    assert {"contained"} == started


def test_only_the_clock_reads_the_time() -> None:
    """No other module imports `time` or asks the loop or the calendar; the client has its own clock."""
    asking = {
        *("anyio.current_time", "date.today", "datetime.now", "datetime.today", "datetime.utcnow"),
        *("datetime.date.today", "datetime.datetime.now", "datetime.datetime.utcnow"),
    }
    readers = {
        module
        for module in modules()
        if asking & names_used(module) or any(is_any_of(name, {"time"}) for name in imported(module))
    }

    assert {"actors.core.clock", "web.client.clock"} == readers


def test_only_settings_read_the_environment() -> None:
    """Only the settings module reads environment variables."""
    asking = {"os.environ", "os.environb", "os.getenv", "environ", "getenv"}

    assert {"actors.service.settings"} == {module for module in modules() if asking & names_used(module)}


def test_no_docstring_begins_with_a_clause() -> None:
    """The subject of its first sentence is a noun: "The prices that …", not "What …" or "Those of …"."""
    begun = {
        (file.relative_to(ROOT).as_posix(), docstring)
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if _CLAUSE(docstring := ast.get_docstring(node) or "")
    }

    assert set() == begun


def test_no_variable_is_called_one() -> None:
    """A variable has the name of the thing that it stands for."""
    named = {
        (file.relative_to(ROOT).as_posix(), node.lineno)
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if (isinstance(node, ast.Name) and "one" == node.id)
        or (isinstance(node, ast.arg) and "one" == node.arg)
    }

    assert set() == named

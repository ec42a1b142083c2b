"""`scripts/prepare`, with stand-ins for the installers: two runs at the same time, with and without uv."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source_code import ROOT
from tests.support.time.waiting import eventually

NEEDED = ("pyproject.toml", "requirements.lock", "requirements-test.lock", "scripts/prepare")
PYTHON = f"""#!/bin/sh
case "$*" in
    "-m venv "*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    "-m "*" install "*) echo pip >> installers; while [ -e held ]; do sleep 0.02; done ;;
    "-m "*) ;;
    *) exec {sys.executable} "$@" ;;
esac
"""
"""A Python that makes no real environment and installs nothing; the file `held` makes it wait."""
UV = """#!/bin/sh
case "$*" in
    "pip install "*" --require-hashes -r requirements.lock") echo lock >> installers ;;
    "pip install "*" --offline --no-deps "*" --editable .") echo project >> installers ;;
    *) exit 2 ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone with the script, its lock files, and a Python that installs nothing."""
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    _put(tmp_path / "bin" / "python3", PYTHON)
    return tmp_path


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    file.chmod(0o755)


def _prepare(clone: Path) -> subprocess.Popen[str]:
    path = f"{clone / 'bin'}:{os.defpath}"
    return subprocess.Popen(
        [clone / "scripts" / "prepare", "run"],
        cwd=clone,
        env={"PATH": path},
        stderr=subprocess.PIPE,
        text=True,
    )


def _installers(clone: Path) -> list[str]:
    log = clone / "installers"
    return log.read_text("utf-8").split() if log.exists() else []


def test_a_second_one_waits_for_the_first_and_installs_nothing(clone: Path) -> None:
    """Two scripts that start at the same time in a new clone share its environment."""
    _put(clone / "bin" / "uv", "#!/bin/sh\nexit 1\n")
    (clone / "held").touch()
    with _prepare(clone) as first:
        eventually(lambda: _installers(clone) == ["pip"], "the first one installs")
        with _prepare(clone) as second:
            assert second.stderr is not None
            said = second.stderr.readline()
            (clone / "held").unlink()

    assert "waiting for another process that prepares .venv\n" == said
    assert [0, 0] == [first.returncode, second.returncode]
    assert ["pip", "pip"] == _installers(clone)  # the first for the lock file, the second for the project


def test_pip_installs_where_uv_fails(clone: Path) -> None:
    """An index may work with pip but not with uv; the failure of uv is reported."""
    _put(clone / "bin" / "uv", "#!/bin/sh\necho uv >> installers\nexit 2\n")
    with _prepare(clone) as process:
        _, told = process.communicate()

    assert 0 == process.returncode
    assert "uv could not install requirements.lock: trying pip" in told
    assert ["uv", "pip", "pip"] == _installers(clone)


def test_uv_installs_the_lock_file_by_hash(clone: Path) -> None:
    """If there is uv, pip is not used."""
    _put(clone / "bin" / "uv", UV)
    with _prepare(clone) as process:
        process.communicate()

    assert 0 == process.returncode
    assert ["lock", "project"] == _installers(clone)

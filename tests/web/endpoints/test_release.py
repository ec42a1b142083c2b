"""The release that runs: the commit of a clone, of a worktree or of a package, or none."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.source_code import ROOT
from web.endpoints.release import COMMIT, commit_of, release

COMMITTED = "25ea8f21c0ffee0025ea8f21c0ffee0025ea8f21"
BRANCH = "ref: refs/heads/a/branch\n"


@pytest.mark.parametrize(
    "files",
    [
        {".git/HEAD": f"{COMMITTED}\n"},
        {".git/HEAD": BRANCH, ".git/refs/heads/a/branch": f"{COMMITTED}\n"},
        {".git/HEAD": BRANCH, ".git/packed-refs": f"# pack-refs\n{COMMITTED} refs/heads/a/branch\n"},
        {
            ".git": "gitdir: main/.git/worktrees/this\n",
            "main/.git/worktrees/this/HEAD": BRANCH,
            "main/.git/worktrees/this/commondir": "../..\n",
            "main/.git/refs/heads/a/branch": f"{COMMITTED}\n",
        },
        {f"web/endpoints/{COMMIT}": COMMITTED},
    ],
    ids=["detached", "branch", "packed", "worktree", "package"],
)
def test_the_commit_is_found(tmp_path: Path, files: dict[str, str]) -> None:
    """The first eight digits of the commit are used."""
    _write(tmp_path, files)

    assert "25ea8f21" == commit_of(tmp_path)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {".git/config": ""},
        {".git": "nothing"},
        {".git/HEAD": BRANCH, ".git/packed-refs": ""},
        {".git/HEAD": BRANCH},
        {".git/HEAD": "not a commit"},
    ],
)
def test_without_a_commit_there_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    """A folder that cannot be read as a clone, or a clone without a commit, is no failure."""
    _write(tmp_path, files)

    assert commit_of(tmp_path) is None


def test_the_release_is_the_version_and_the_commit() -> None:
    """With the commit, reports from two clones can be distinguished."""
    commit = commit_of(ROOT)

    assert (f"{version('oddsboard')}+{commit}" if commit else version("oddsboard")) == release()


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")

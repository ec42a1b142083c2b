"""Changed folders, found by Git: on a branch, on the default branch, and without history."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.changes import Changes, changes, folders_of

GIT = shutil.which("git") or ""
pytestmark = pytest.mark.skipif(not GIT, reason="git is not installed")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with two commits on `main`; the second changed the folder `b`."""
    folder = tmp_path / "repository"
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    _commit(folder, "a/one", "b/one", "read")
    _commit(folder, "b/two")
    return folder


def _git(folder: Path, *arguments: str) -> str:
    """Run Git without the personal configuration of the user."""
    names = {
        f"GIT_{who}_{what}": "x@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **names}
    return subprocess.run(
        [GIT, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def _put(folder: Path, *files: str) -> None:
    for file in files:
        (folder / file).parent.mkdir(exist_ok=True, parents=True)
        (folder / file).write_text(f"{file}\n", "utf-8")


def _commit(folder: Path, *files: str) -> None:
    _put(folder, *files)
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", "more")


def _name(folder: Path, commit: str = "HEAD") -> str:
    return _git(folder, "rev-parse", commit)[:12]


def test_a_branch_is_compared_with_where_it_left_the_default_branch(repository: Path) -> None:
    """All commits of the branch count, and later commits of the default branch do not."""
    _git(repository, "switch", "-q", "-c", "mine")
    _commit(repository, "a/two")
    _commit(repository, "c/d/one")
    _git(repository, "switch", "-q", "main")
    _commit(repository, "later/one")
    _git(repository, "switch", "-q", "mine")

    assert Changes(("a", "c/d"), _name(repository, "main~1")) == changes(repository)


def test_the_default_branch_is_compared_with_its_previous_commit(repository: Path) -> None:
    """After a merge CI checks the changes of the last commit."""
    assert Changes(("b",), _name(repository, "HEAD~1")) == changes(repository)


def test_what_is_not_committed_counts(repository: Path) -> None:
    """A new file, a staged file, and a file that is gone with its folder are changes."""
    _put(repository, "new/one", "staged/one")
    _git(repository, "add", "staged")
    (repository / "a" / "one").unlink()
    (repository / "a").rmdir()

    assert (".", "b", "new", "staged") == changes(repository).folders


def test_the_branch_of_the_server_comes_before_the_own(repository: Path, tmp_path: Path) -> None:
    """If a clone's `main` has commits that the server lacks, the clone is compared with the server's."""
    clone = tmp_path / "clone"
    _git(repository, "clone", "-q", str(repository), str(clone))
    _commit(clone, "a/two")
    _commit(clone, "c/one")

    assert Changes(("a", "c"), _name(repository)) == changes(clone)


@pytest.mark.parametrize("branch", ["main", "mine"])
def test_a_single_commit_has_no_changes_but_those_not_committed(
    repository: Path, tmp_path: Path, branch: str
) -> None:
    """A checkout of CI with one commit has no previous commit, and may have no default branch."""
    _git(repository, "switch", "-q", "-C", branch)
    clone = tmp_path / "clone"
    url = f"file://{repository}"
    _git(repository, "clone", "-q", "--depth", "1", "--single-branch", "-b", branch, url, str(clone))

    assert Changes((), f"{_name(clone)}, the only commit of this checkout") == changes(clone)

    _put(clone, "c/one")

    assert ("c",) == changes(clone).folders


def test_two_commits_without_the_default_branch_are_compared(repository: Path, tmp_path: Path) -> None:
    """The repository is a shallow checkout of another branch."""
    _git(repository, "switch", "-q", "-c", "mine")
    _commit(repository, "c/one")
    clone = tmp_path / "clone"
    url = f"file://{repository}"
    _git(repository, "clone", "-q", "--depth", "2", "--single-branch", "-b", "mine", url, str(clone))
    _git(clone, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD")

    assert Changes(("c",), _name(clone, "HEAD~1")) == changes(clone)


def test_no_git_and_no_repository_have_no_changes(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases are a repository without a commit, and a machine without Git."""
    bare = tmp_path / "bare"
    bare.mkdir()
    _git(bare, "init", "-q")
    nothing = Changes((), "nothing: no Git, or no commit")

    assert nothing == changes(bare)

    monkeypatch.setenv("PATH", str(tmp_path))

    assert nothing == changes(repository)


def test_a_hook_of_git_names_no_other_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git sets variables for its hooks, and a hook may run the tests."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))

    assert ("b",) == changes(repository).folders


def test_folder_of_a_file_that_is_gone_is_the_nearest_that_is_there(tmp_path: Path) -> None:
    """The tests of that folder are the ones that may notice the change."""
    (tmp_path / "a").mkdir()

    assert (".", "a") == folders_of(tmp_path, ["a/b/c/one", "a/two", "gone/one", "three"])

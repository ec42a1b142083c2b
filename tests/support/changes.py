"""The changed folders of the repository, as Git reports them, for the tests that CI draws."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from msgspec import Struct

_DEFAULT_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_LIMIT_S = 60.0


class Changes(Struct, frozen=True):
    """The folders with a changed file, in the repository, "." for itself; `against` names a commit.

    Where Git or the history is missing, there are no folders, and `against` says why.
    """

    folders: tuple[str, ...]
    against: str


def changes(root: Path) -> Changes:
    """Return the differences from the newest commit on the default branch, committed or not.

    On that commit itself, the previous one takes its place. Files that Git neither knows nor ignores
    count as changed. Raises nothing: without Git or without history nothing has changed.
    """
    head = _git(root, "rev-parse", "--verify", "HEAD^{commit}")
    if head is None:
        return Changes((), "nothing: no Git, or no commit")
    against = _default_branch(root, head) or _git(root, "rev-parse", "--verify", "HEAD~1^{commit}")
    changed = _git(root, "diff", "--name-only", "--no-renames", "--relative", "-z", against or head)
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    files = [file for found in (changed, new) for file in (found or "").split("\0") if file]
    short = (against or head)[:12]
    return Changes(
        folders_of(root, files), short if against else f"{short}, the only commit of this checkout"
    )


def folders_of(root: Path, files: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of these files, sorted; for a missing folder, the nearest folder around it."""
    return tuple(sorted({_there(root, PurePosixPath(file).parent) for file in files}))


def _there(root: Path, folder: PurePosixPath) -> str:
    return str(folder) if (root / folder).is_dir() else _there(root, folder.parent)


def _default_branch(root: Path, head: str) -> str | None:
    """Return where HEAD left the default branch, or its newest commit if that is unknown.

    None if there is no default branch, or HEAD is on it.
    """
    for branch in _DEFAULT_BRANCHES:
        newest = _git(root, "rev-parse", "--verify", f"{branch}^{{commit}}")
        if newest is not None:
            left = _git(root, "merge-base", newest, "HEAD") or newest
            return left if left != head else None
    return None


def _git(root: Path, *arguments: str) -> str | None:
    """Return what Git prints; None if it fails, takes too long or is not there."""
    # The variables of a Git hook that runs the tests would name another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "safe.directory=*", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, env=environment, timeout=_LIMIT_S, encoding="utf-8"
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout.strip() or None

"""The running release: its version, and its commit if it is known.

Builds of packages use this module, so it imports only the standard library.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

COMMIT = "commit.txt"
"""The file beside this module in which a package has the commit of its build."""


def release() -> str:
    """Return the version and the begin of the commit, `0.2.0+25ea8f21`; `0.2.0` if no commit is known."""
    commit = commit_of(Path(__file__).parents[2])
    return version("oddsboard") + (f"+{commit}" if commit else "")


def commit_of(root: Path) -> str | None:
    """Return eight digits of the commit that `root` has checked out, or was built from; None without one.

    Git is not called: it may be absent, and it refuses another user's clone.
    """
    try:
        head = _read(git := _git(root), "HEAD")
        if found := re.fullmatch(r"ref: (refs/\S+)", head):
            common = git / _read(git, "commondir") if (git / "commondir").exists() else git
            head = _of_branch(common, found[1])
    except (OSError, UnicodeDecodeError):
        head = ""
    if not head and (kept := root / "web" / "endpoints" / COMMIT).exists():
        head = kept.read_text("ascii")
    return head[:8] if re.fullmatch(r"[0-9a-f]{8,64}", head) else None


def _git(root: Path) -> Path:
    """Return the clone's git folder; in a worktree the file `.git` names it."""
    git = root / ".git"
    return git if git.is_dir() else root / _read(root, ".git").removeprefix("gitdir: ")


def _of_branch(common: Path, branch: str) -> str:
    if (common / branch).exists():
        return _read(common, branch)
    packed = re.search(rf"^([0-9a-f]+) {re.escape(branch)}$", _read(common, "packed-refs"), re.MULTILINE)
    return packed[1] if packed else ""


def _read(folder: Path, name: str) -> str:
    return (folder / name).read_text("utf-8").strip()

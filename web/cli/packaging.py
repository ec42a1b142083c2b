"""Commands of setuptools that write the commit into a package. The service never imports this module."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

_ROOT = Path(__file__).parents[2]
_PLACE = Path("web", "endpoints")
_RELEASE = runpy.run_path(str(_ROOT / _PLACE / "release.py"))  # packages cannot be imported here


class BuildPy(build_py):
    """Writes the commit into the wheel; an editable installation asks git in its clone instead."""

    def run(self) -> None:
        """Build, then write the commit."""
        super().run()
        if not self.editable_mode:
            _write(Path(self.build_lib))


class Sdist(sdist):
    """Writes the commit into the sdist, from which a wheel takes it."""

    def make_release_tree(self, base_dir: str, files: Sequence[str]) -> None:
        """Make the tree, then write the commit."""
        super().make_release_tree(base_dir, files)
        _write(Path(base_dir))


def _write(folder: Path) -> None:
    if commit := _RELEASE["commit_of"](_ROOT):
        (folder / _PLACE / _RELEASE["COMMIT"]).write_text(commit, "ascii")

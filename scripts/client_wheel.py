"""Builds the wheel `oddsboard-client`: web/client as package `oddsboard_client` (scripts/client-wheel)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "oddsboard-client"
version = "{version}"
description = "A client of oddsboard: football odds on a local board that is always the service's"
readme = "README.md"
license = "MIT"
license-files = ["LICENSE"]
requires-python = ">=3.11"
dependencies = {dependencies}

[project.optional-dependencies]
pandas = ["pandas>=2.3,<4"]

[tool.setuptools]
packages = ["oddsboard_client"]
package-data = {{ oddsboard_client = ["py.typed"] }}
"""
NEEDS = ("httpx2", "msgspec")
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")  # a link to a page of docs/, which no wheel has
_BUILD = "import setuptools.build_meta as b, sys; print(b.build_wheel(sys.argv[1]))"


def built(folder: Path) -> Path:
    """Build the wheel into a folder, and return it. Raises: CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [needed for needed in project["dependencies"] if needed.startswith(NEEDS)]
    with tempfile.TemporaryDirectory() as name:
        source = Path(name)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "web" / "client", source / "oddsboard_client", ignore=ignored)
        (source / "oddsboard_client" / "py.typed").touch()
        shutil.copy(ROOT / "LICENSE", source)
        page = (ROOT / "docs" / "client.md").read_text("utf-8")
        (source / "README.md").write_text(_LINK.sub(r"\1", page), "utf-8")
        text = PROJECT.format(version=project["version"], dependencies=needs)
        (source / "pyproject.toml").write_text(text, "utf-8")
        command = [sys.executable, "-c", _BUILD, str(folder.resolve())]
        done = subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
        return folder / done.stdout.split()[-1]


if __name__ == "__main__":
    print(built(Path(sys.argv[1])))

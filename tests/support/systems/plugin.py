"""A package with one kind of source, installed for a separate process."""

from __future__ import annotations

import os
from pathlib import Path


def installed(folder: Path, name: str, source: str) -> dict[str, str]:
    """Install the module `name`, whose KIND has this name, and return the environment that includes it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[oddsboard.sources]\n{name} = {name}:KIND\n", "utf-8")
    (folder / f"{name}.py").write_text(source, "utf-8")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}

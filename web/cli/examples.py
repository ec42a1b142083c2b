"""The shipped example files: configurations, source programs and deployments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

CONFIGS = (Path(__file__).parent.parent / "config").resolve()  # in a clone, web/config is a link to config/


def _named(files: Iterable[Path]) -> Iterable[tuple[str, Path]]:
    for file in files:
        name = file.relative_to(CONFIGS)
        if file.is_file() and "__pycache__" not in name.parts:
            yield str(name.with_suffix("") if name.parent == Path() else name), file


EXAMPLES: Mapping[str, Path] = dict(
    sorted(_named(CONFIGS.rglob("*")), key=lambda named: (named[1].parent != CONFIGS, named[0]))
)
"""The files by name: `live-keyless` for a configuration, with folder and ending for other files."""

CONFIGURATIONS = [name for name, file in EXAMPLES.items() if file.parent == CONFIGS]


def default_out(example: str) -> Path:
    """Return the name of the file that `init` writes if none is given."""
    return Path("oddsboard.toml" if example in CONFIGURATIONS else EXAMPLES[example].name)

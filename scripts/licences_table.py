"""The licences of all dependencies, as their packages declare them; `scripts/licences` runs it."""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {"run": "requirements.lock", "test": "requirements-test.lock"}

PERMISSIVE = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "PSF-2.0", "Zlib"),
        *("BSD", "Apache", "PSF"),  # spellings of older packages
    }
)
"""Permissive licences: everybody may use, change and ship the work if it names its authors."""

_WRITTEN_OUT = {
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF",
}


def locked(lock: str) -> list[str]:
    """Return the names of the packages of a lock file, in its order."""
    return re.findall(r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / lock).read_text("utf-8"), re.MULTILINE)


def licence_of(package: Distribution) -> str:
    """Return a package's declared licence: expression, classifiers or first line of text; "" if none."""
    declared = package.metadata.json
    if expression := declared.get("license_expression"):
        return str(expression)
    titles = [line.rpartition(" :: ")[2] for line in declared.get("classifier", ()) if "License ::" in line]
    written = titles or [str(declared.get("license", "")).partition("\n")[0]]
    return " AND ".join(_WRITTEN_OUT.get(title, title) for title in written)


def is_permissive(licence: str) -> bool:
    """Return whether all licences of an expression are permissive; of alternatives, one is enough."""
    parts = re.split(r"\s+AND\s+|\s+and\s+", licence.replace("(", "").replace(")", ""))
    return all(any(name in PERMISSIVE for name in re.split(r"\s+OR\s+|\s+or\s+", part)) for part in parts)


def rows(purpose: str) -> list[tuple[str, str, str]]:
    """Return name, version and licence of the locked packages of a purpose that are installed here."""
    found = []
    for name in dict.fromkeys(locked(LOCKS[purpose])):
        try:
            package = distribution(name)
        except PackageNotFoundError:  # a package for another system or Python
            continue
        found.append((name, package.version, licence_of(package)))
    return found


def main(purpose: str = "run") -> int:
    """Print the table; return 1 if something installed to run is not permissive."""
    for row in rows(purpose):
        print(" | ".join(row))
    refused = [row for row in rows("run") if not is_permissive(row[2])]
    for name, _, licence in refused:
        print(f"not permissive: {name} ({licence or 'says nothing'})", file=sys.stderr)
    return bool(refused)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

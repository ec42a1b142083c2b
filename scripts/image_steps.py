"""The steps of the recipe for an image, run in plain folders by `scripts/image`.

It does an engine's work by hand: a stage is a copy of the base, a minimal Debian with a Python in
`/usr/local`; RUN is a chroot; the result is mounted read-only, and the recipe's user serves from it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECIPE = ROOT / "config" / "deploy" / "Containerfile"
RELEASE = "bookworm"
LIBRARIES = "ca-certificates,libbz2-1.0,libffi8,liblzma5,libsqlite3-0,libssl3,tzdata,zlib1g"
"""Packages that Python's own modules need; the official image has them."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ODDS = "http://127.0.0.1:8000/api/v2/odds"
START_S = 60.0
SETTINGS = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
"""Files by which an engine's containers reach a package index."""


@dataclass
class Stage:
    """A stage: its root, and the settings for its following steps."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    folder: str = "/"
    user: str = "0:0"
    lists: dict[str, list[str]] = field(default_factory=dict)
    """ENTRYPOINT, CMD and HEALTHCHECK."""

    def path(self, inside: str) -> Path:
        """Return the path outside of a path in the stage."""
        return self.root / str(Path(self.folder) / inside).lstrip("/")


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Return instruction and arguments of each step of a recipe."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for line in lines.replace("\\\n", " ").splitlines():
        if line.strip():
            instruction, _, arguments = line.strip().partition(" ")
            yield instruction, arguments.strip()


def made(base: Path, folder: Path) -> Stage:
    """Run all steps, and return the last stage. Raises: CalledProcessError, ValueError."""
    stages: dict[str, Stage] = {}
    stage = Stage(base)
    for instruction, arguments in steps(RECIPE.read_text("utf-8")):
        print(f"{instruction} {arguments}"[:108], flush=True)
        if instruction == "FROM":
            name = (re.findall(r" AS (\w+)$", arguments) or ["last"])[0]
            stage = stages[name] = Stage(folder / name)
            _run(["cp", "-a", str(base), str(stage.root)])
        elif instruction == "COPY":
            _copy(stage, stages, shlex.split(arguments))
        else:
            _step(stage, instruction, arguments)
    return stage


def _step(stage: Stage, instruction: str, arguments: str) -> None:
    match instruction:
        case "RUN":
            command = ["chroot", str(stage.root), "/bin/sh", "-ec", f"cd {stage.folder}\n{arguments}"]
            _run(command, {**_pip_variables(), **stage.environment})
        case "WORKDIR":
            stage.folder = arguments
            stage.path("").mkdir(parents=True, exist_ok=True)
        case "ENV":
            name, _, value = arguments.partition("=")
            stage.environment[name] = value
        case "USER":
            stage.user = arguments
        case "ENTRYPOINT" | "CMD":
            stage.lists[instruction] = json.loads(arguments)
        case "HEALTHCHECK":
            stage.lists[instruction] = json.loads(arguments.partition(" CMD ")[2])
        case "EXPOSE" | "STOPSIGNAL":
            pass
        case _:
            raise ValueError(f"{instruction} is not known here")


def _copy(stage: Stage, stages: Mapping[str, Stage], words: list[str]) -> None:
    given = dict(word.removeprefix("--").split("=", 1) for word in words if word.startswith("--"))
    source = stages[given["from"]].root if "from" in given else ROOT
    *names, target = (word for word in words if not word.startswith("--"))
    for name in names:
        found, to = source / name.lstrip("/"), stage.path(target)
        if found.is_dir():
            shutil.copytree(
                found, to, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.egg-info")
            )
        else:
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy(found, to)
        if "chown" in given:
            _run(["chown", "--recursive", given["chown"], str(to)])


def _run(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Run a command and return its output. Raises: CalledProcessError."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return done.stdout.strip()


def _pip_variables() -> dict[str, str]:
    """Return pip's variables with the package index."""
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


def _base_system(folder: Path, python: str) -> Path:
    """Return a minimal Debian with the named Python in `/usr/local`. Raises: CalledProcessError."""
    base = folder / "base"
    _run(["debootstrap", "--variant=minbase", f"--include={LIBRARIES}", RELEASE, str(base), *_mirror()])
    prefix = _run([python, "-c", "import sys; print(sys.base_prefix)"])
    local, left = base / "usr" / "local", shutil.ignore_patterns("test", "tests", "__pycache__", "*.a")
    shutil.copytree(prefix, local, symlinks=True, dirs_exist_ok=True, ignore=left)
    _run(["chroot", str(base), "ldconfig"])
    for name in SETTINGS:
        if Path(name).exists():
            shutil.copy(name, base / name.lstrip("/"))
    return base


def _mirror() -> list[str]:
    """Return the address of this machine's apt mirror, if any."""
    found = _run(["apt-get", "indextargets", "--format", "$(RELEASE) $(SITE)", "Created-By: Packages"])
    return [line.split()[1] for line in found.splitlines() if line.startswith(f"{RELEASE} ")][:1]


def serve(stage: Stage) -> None:
    """Serve from the stage as a container would, and print when odds came. Raises: CalledProcessError."""
    root = str(stage.root)
    _run(["mount", "--bind", root, root])
    _run(["mount", "-o", "remount,bind,ro", root])
    user, _, group = stage.user.partition(":")
    rights = ["--reuid", user, "--regid", group, "--clear-groups", "--no-new-privs"]
    inside = ["chroot", root, "/usr/bin/setpriv", *rights, "--bounding-set=-all", "--inh-caps=-all"]
    command = [*inside, *stage.lists["ENTRYPOINT"], *stage.lists["CMD"]]
    began = time.monotonic()
    with subprocess.Popen(command, env=stage.environment, stdout=subprocess.PIPE) as service:
        try:
            matches = _first_odds()
            print(f"{time.monotonic() - began:.2f} s to the first odds: {matches} matches")
            _run([*inside, *stage.lists["HEALTHCHECK"]], stage.environment)
            print(f"its health check passes; it runs as {stage.user}, read-only and without rights")
        finally:
            service.terminate()
            print(f"exit code {service.wait(30)}")


def _first_odds() -> int:
    until = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(ODDS, timeout=10) as answer:
                return int(json.load(answer)["matches_count"])
        except urllib.error.URLError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def main(python: str = "python3.13") -> int:
    """Run the steps, and serve."""
    with tempfile.TemporaryDirectory() as name:
        stage = made(_base_system(Path(name), python), Path(name))
        print("MB in /opt:", _run(["du", "-sm", str(stage.root / "opt")]).split()[0])
        try:
            serve(stage)
        finally:
            subprocess.run(["/bin/umount", "--lazy", str(stage.root)], check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

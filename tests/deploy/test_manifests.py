"""The files for containers say the same as the service and docs/operations.md, and give no rights away."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # the package has no types

from actors.archive.folder import ArchiveSettings
from actors.service.settings import Settings, load
from tests.support.documents import document, quoted, rows, section
from tests.support.source_code import ROOT

DEPLOY = ROOT / "config" / "deploy"
OWN = DEPLOY / "oddsboard.toml"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text("utf-8")
STOPPING_S = 5
"""Seconds that the end of the service takes besides `drain_s`."""
ENDPOINTS_S = 5
"""Seconds that a cluster takes at most until no proxy sends new clients to a pod that is not ready."""


def _manifests() -> dict[str, Any]:
    """Return the manifests for Kubernetes by kind."""
    text = (DEPLOY / "kubernetes.yaml").read_text("utf-8")
    return {manifest["kind"]: manifest for manifest in yaml.safe_load_all(text)}


def _pod() -> Any:
    return _manifests()["Deployment"]["spec"]["template"]["spec"]


def _compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]


def _of_the_pod(folder: Path) -> Settings:
    """Return the settings that the manifests give the service."""
    config = folder / "oddsboard.toml"
    config.write_text(_manifests()["ConfigMap"]["data"]["oddsboard.toml"], "utf-8")
    return load(config)


def _probe(container: Any, name: str) -> tuple[str, int, int, int]:
    probe = container[f"{name}Probe"]
    numbers = (probe["periodSeconds"], probe["timeoutSeconds"], probe["failureThreshold"])
    return probe["httpGet"]["path"], *numbers


def _told_probes() -> dict[str, tuple[str, int, int, int]]:
    """Return the probes that the documents recommend: path, interval, timeout, failures."""
    text = section(document("docs/operations.md"), "## Start, stop, exit codes")
    table = text.partition("| probe of an orchestrator |")[2].partition("\n\n")[0]
    return {
        name: (quoted(path)[0], *map(int, re.findall(r"\d+", " ".join(numbers))))  # type: ignore[misc]
        for name, path, *numbers in rows(f"| probe |{table}")
    }


def test_the_probes_are_those_of_the_documents() -> None:
    """Path, interval, timeout and failures of startup, liveness and readiness."""
    (container,) = _pod()["containers"]

    assert _told_probes() == {
        name: _probe(container, name) for name in ("startup", "liveness", "readiness")
    }


def test_a_pod_serves_until_nobody_is_sent_to_it(tmp_path: Path) -> None:
    """The drain outlasts the readiness probe and the endpoints, and the grace period outlasts the drain."""
    drain_s = _of_the_pod(tmp_path).server.drain_s
    _, interval_s, timeout_s, failures = _probe(_pod()["containers"][0], "readiness")

    assert drain_s >= (interval_s + timeout_s) * failures + ENDPOINTS_S
    assert _pod()["terminationGracePeriodSeconds"] >= drain_s + STOPPING_S


def test_a_pod_has_no_rights() -> None:
    """The pod meets the restricted profile of Kubernetes, with a read-only root and no token."""
    pod = _pod()
    (container,) = pod["containers"]

    assert (True, {"type": "RuntimeDefault"}) == (
        pod["securityContext"]["runAsNonRoot"],
        pod["securityContext"]["seccompProfile"],
    )
    assert {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    } == container["securityContext"]
    assert False is pod["automountServiceAccountToken"]


def test_the_service_and_the_pod_belong_together() -> None:
    """The service of the cluster selects the pod, and leads to a port of this pod."""
    manifests = _manifests()
    spec, template = manifests["Service"]["spec"], manifests["Deployment"]["spec"]["template"]
    (port,) = template["spec"]["containers"][0]["ports"]

    assert spec["selector"] == template["metadata"]["labels"]
    assert [port["name"]] == [ports["targetPort"] for ports in spec["ports"]]
    user = str(template["spec"]["securityContext"]["runAsUser"])
    assert f"USER {user}:{user}" in CONTAINERFILE


def test_the_archive_is_kept_where_the_container_may_write(tmp_path: Path) -> None:
    """The folder is the unit's state directory; compose and cluster mount it; the image's user owns it."""
    state = "/var/lib/oddsboard"
    archives = {load(OWN).archive.path, _of_the_pod(tmp_path).archive.path}
    (mounted,) = [
        mount["mountPath"] for mount in _pod()["containers"][0]["volumeMounts"] if "readOnly" not in mount
    ]
    volumes = [volume.split(":") for volume in _compose()["oddsboard"]["volumes"]]
    unit = (DEPLOY / "oddsboard.service").read_text("utf-8")

    assert {f"{state}/archive"} == archives
    assert {state} == {mounted, *(target for _, target, *mode in volumes if "ro" not in mode)}
    assert "\nStateDirectory=oddsboard\n" in unit
    assert f"--chown=65532:65532 {state} {state}\n" in CONTAINERFILE


@pytest.mark.parametrize("name", ["Containerfile", "oddsboard.service"])
def test_long_days_are_sorted_where_the_archive_is(name: str) -> None:
    """SQLite sorts in a file, for which a read-only root or a small `/tmp` in memory has no room."""
    text = (DEPLOY / name).read_text("utf-8")

    assert re.findall(r"^(?:ENV |Environment=)SQLITE_TMPDIR=(.*)$", text, re.MULTILINE) == [
        "/var/lib/oddsboard"
    ]


def test_two_pods_never_write_one_archive() -> None:
    """The old pod ends before the new one begins; the volume has room for the archive and more."""
    manifests = _manifests()
    spec, claim = manifests["Deployment"]["spec"], manifests["PersistentVolumeClaim"]["spec"]

    assert (1, "Recreate") == (spec["replicas"], spec["strategy"]["type"])
    room_gib = int(claim["resources"]["requests"]["storage"].removesuffix("Gi"))
    assert room_gib << 30 > ArchiveSettings().max_bytes


def test_the_image_copies_what_is_there() -> None:
    """Every file that the recipe copies exists, and the list of allowed files includes it."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINERFILE, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text("utf-8")

    assert {"actors", "web", "config", "requirements.lock"} < names
    assert set() == {name for name in names if not (ROOT / name).exists()}
    assert names == set(re.findall(r"^!(.+)$", ignored, re.MULTILINE))


def test_the_image_is_checked_by_the_probe_of_a_process() -> None:
    """The probe asks if the process is alive, not ready: a new container does not bring prices."""
    assert "http://127.0.0.1:8000/health/live" in CONTAINERFILE.partition("HEALTHCHECK")[2]
    assert "--require-hashes --only-binary :all:" in CONTAINERFILE


def test_composed_containers_have_no_rights_and_time_to_stop() -> None:
    """Only the proxy reaches the service, at the address that the file of the proxy names."""
    service, nginx = _compose()["oddsboard"], _compose()["nginx"]
    address = service["networks"]["inside"]["ipv4_address"]
    shipped = (DEPLOY / "nginx.conf").read_text("utf-8")
    old, new = re.findall(r"sed 's/([^/]+)/([^/]+)/'", nginx["command"][2])[0]

    assert ("ports" not in service, True, ["ALL"]) == (True, service["read_only"], service["cap_drop"])
    settings = load(OWN)
    assert int(service["stop_grace_period"].removesuffix("s")) >= settings.server.drain_s + STOPPING_S
    assert nginx["networks"]["inside"]["ipv4_address"] in settings.limits.trusted_proxies
    assert (1, f"server {address}:8000;") == (shipped.count(old), new)


def test_nginx_can_make_the_folders_of_its_caches() -> None:
    """The program nginx makes a folder, but no parent, and Debian's package has no `/var/cache/nginx`."""
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    folders = re.findall(r"^proxy_cache_path (\S+)", text, re.MULTILINE)

    assert [Path("/var/cache")] * 2 == [Path(folder).parent for folder in folders]


def _composes() -> bool:
    """Return whether docker's command line has compose; an engine is not needed to read a file."""
    docker = which("docker")
    if docker is None:
        return False
    asked = subprocess.run([docker, "compose", "version"], capture_output=True, check=False, timeout=60)
    return asked.returncode == 0


@pytest.mark.skipif(not _composes(), reason="needs docker compose (Debian 13: docker-compose)")
def test_compose_reads_its_file(tmp_path: Path) -> None:
    """Compose checks the file by its own rules; nothing is started."""
    command = ["docker", "compose", "--file", str(DEPLOY / "compose.yaml"), "config", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    assert (0, "") == (done.returncode, done.stderr)

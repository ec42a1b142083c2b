"""The files of a cluster in containers agree with each other, and give no rights away."""

from __future__ import annotations

import re
import shlex
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml  # type: ignore[import-untyped]  # the package has no types

from actors.service.settings import Settings, load
from actors.service.tables import Role
from tests.deploy.test_manifests import ENDPOINTS_S, STOPPING_S
from tests.support.peers.http import http_peer, respond
from tests.support.source_code import ROOT
from tests.support.systems.process import free_port
from tests.support.systems.proxies import NGINX, client_of, needs_nginx
from tests.support.time.waiting import eventually

DEPLOY = ROOT / "config" / "deploy"
FOLDER = DEPLOY / "cluster"
PASSWORD = "a1b2"  # noqa: S105 - no server has this password
ROLES = [Role.COLLECTOR] * 2 + [Role.REPLICA] * 3


def _services() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))["services"]


def _deployments() -> list[Any]:
    manifests = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text("utf-8"))
    return [manifest["spec"] for manifest in manifests if manifest["kind"] == "Deployment"]


def _settings(role: Role) -> Settings:
    environment = {"ODDSBOARD_ROLE": role, "REDIS_PASSWORD": PASSWORD, "ODDSBOARD_PROXY": "10.0.0.0/8"}
    return load(FOLDER / "oddsboard.toml", environment)


def _role(container: Any) -> Role:
    return Role(container["env"][0]["value"])


@pytest.mark.parametrize("role", Role)
def test_the_configuration_takes_its_role_from_the_environment(role: Role) -> None:
    """The same file serves all processes; the password is never shown."""
    settings = _settings(role)

    assert (role,) == settings.cluster.roles
    assert PASSWORD in settings.secrets()


def test_composed_processes_are_two_collectors_and_three_replicas_behind_the_proxy() -> None:
    """The proxy asks the replicas alone, and nothing else is reached from outside."""
    services, nginx = _services(), _services()["nginx"]
    processes = [service for service in services.values() if service.get("image") == "oddsboard"]
    shipped = (DEPLOY / "nginx.conf").read_text("utf-8")
    old, new = re.findall(r"sed 's/([^/]+)/([^/]+)/'", nginx["command"][2])[0]
    replicas = [service for service in processes if service["environment"]["ODDSBOARD_ROLE"] == "replica"]
    addresses = [service["networks"]["inside"]["ipv4_address"] for service in replicas]

    assert ROLES == [service["environment"]["ODDSBOARD_ROLE"] for service in processes]
    assert ["nginx"] == [name for name, service in services.items() if "ports" in service]
    assert (1, " ".join(f"server {address}:8000 max_fails=0;" for address in addresses)) == (
        shipped.count(old),
        new,
    )
    assert {nginx["networks"]["inside"]["ipv4_address"]} == {
        service["environment"]["ODDSBOARD_PROXY"] for service in processes
    }
    drain_s = _settings(Role.REPLICA).server.drain_s
    assert all(
        int(each["stop_grace_period"].removesuffix("s")) >= drain_s + STOPPING_S for each in processes
    )
    assert all(service["cap_drop"] == ["ALL"] and service["read_only"] for service in processes)


def _kept(server: Any, arguments: list[str]) -> tuple[str | None, ...]:
    """Return the server's policy for a full memory, and how it writes its data to its volume."""
    options = dict(pairwise(arguments))
    mounts = [mount["mountPath"] if isinstance(mount, dict) else mount for mount in server]
    assert [options["--dir"]] == [mount.rpartition(":")[2] for mount in mounts]
    return tuple(options.get(f"--{name}") for name in ("maxmemory-policy", "appendonly", "appendfsync"))


def test_the_server_keeps_what_was_spent_over_a_restart() -> None:
    """The server writes each record to a volume immediately, and deletes nothing to make room."""
    compose, pod = _services()["shared"], _deployments()[0]["template"]["spec"]
    (container,) = pod["containers"]
    mounted = compose["volumes"], shlex.split(compose["command"])
    claimed = container["volumeMounts"], container["args"]

    assert [("noeviction", "yes", "always")] * 2 == [_kept(*each) for each in (mounted, claimed)]
    assert "persistentVolumeClaim" in pod["volumes"][0]


def test_pods_are_two_collectors_and_three_replicas_without_rights() -> None:
    """All pods have the same configuration, and may change nothing of their container."""
    shared, *processes, nginx = _deployments()
    pods = [(spec["replicas"], spec["template"]["spec"]["containers"][0]) for spec in processes]

    assert ROLES == [_role(container) for count, container in pods for _ in range(count)]
    assert (1, 1) == (shared["replicas"], nginx["replicas"])
    for spec in (shared, *processes, nginx):
        pod = spec["template"]["spec"]
        security = pod["containers"][0]["securityContext"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert (False, True) == (security["allowPrivilegeEscalation"], security["readOnlyRootFilesystem"])
        assert ["ALL"] == security["capabilities"]["drop"]


def test_a_pod_that_ends_drains_until_nobody_sends_clients() -> None:
    """The drain outlasts readiness and endpoints, and the pod's time to stop outlasts the drain."""
    _, _, replicas, _ = _deployments()
    pod, drain_s = replicas["template"]["spec"], _settings(Role.REPLICA).server.drain_s
    probe = pod["containers"][0]["readinessProbe"]
    fails_s = (probe["periodSeconds"] + probe["timeoutSeconds"]) * probe["failureThreshold"]

    assert fails_s + ENDPOINTS_S <= drain_s <= pod["terminationGracePeriodSeconds"] - STOPPING_S


@needs_nginx
def test_nginx_of_a_pod_asks_the_replicas(tmp_path: Path) -> None:
    """The command of the pod makes all that nginx needs in the only writable folder."""
    *_, spec = _deployments()
    (container,) = spec["template"]["spec"]["containers"]
    port, shell = free_port(), container["command"][2]
    with http_peer() as peer:
        peer.otherwise = respond(b"a list")
        for old, new in (
            ("/shipped/", f"{DEPLOY}/"),
            ("/tmp/", f"{tmp_path}/"),  # noqa: S108 - a path in the container
            ("oddsboard-replicas:8000", f"127.0.0.1:{peer.port}"),
            ("listen 8080;", f"listen 127.0.0.1:{port};"),
            ("daemon off;", "daemon off; user root;"),
            (" /shipped", f" -e s/127.0.0.1:8001/127.0.0.1:{free_port()}/ /shipped"),
            ("exec nginx", f"exec {NGINX}"),
        )[::-1]:
            assert old in shell
            shell = shell.replace(old, new)
        process = subprocess.Popen(["/bin/sh", "-c", shell])
        try:
            with client_of(f"http://127.0.0.1:{port}") as client:
                eventually(lambda: _text(client, "/api/v2/odds") == "a list", "nginx answers")
        finally:
            process.terminate()
            process.wait(10)


def _text(client: httpx2.Client, path: str) -> str:
    try:
        return client.get(path).text
    except httpx2.TransportError:
        return ""

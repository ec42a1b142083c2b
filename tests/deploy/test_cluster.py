"""The files of a cluster in containers agree with each other, and give no rights away."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # it has no types of its own

from actors.service.settings import load
from actors.service.tables import Role
from tests.support.source_code import ROOT

DEPLOY = ROOT / "config" / "deploy"
FOLDER = DEPLOY / "cluster"
PASSWORD = "a1b2"  # noqa: S105 - of no server
ROLES = [Role.COLLECTOR] * 2 + [Role.REPLICA] * 3


def _services() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))["services"]


def _deployments() -> list[Any]:
    manifests = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text("utf-8"))
    return [manifest["spec"] for manifest in manifests if manifest["kind"] == "Deployment"]


def _role(container: Any) -> Role:
    return Role(container["env"][0]["value"])


@pytest.mark.parametrize("role", Role)
def test_the_configuration_takes_its_role_from_the_environment(role: Role) -> None:
    """The same file serves all processes; the password is never shown."""
    environment = {"ODDSBOARD_ROLE": role, "REDIS_PASSWORD": PASSWORD}
    settings = load(FOLDER / "oddsboard.toml", environment)

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
    trusted = load(FOLDER / "oddsboard.toml", {"ODDSBOARD_ROLE": "replica", "REDIS_PASSWORD": PASSWORD})

    assert ROLES == [service["environment"]["ODDSBOARD_ROLE"] for service in processes]
    assert ["nginx"] == [name for name, service in services.items() if "ports" in service]
    assert (1, " ".join(f"server {address}:8000 max_fails=0;" for address in addresses)) == (
        shipped.count(old),
        new,
    )
    assert nginx["networks"]["inside"]["ipv4_address"] in trusted.limits.trusted_proxies
    assert all(service["cap_drop"] == ["ALL"] and service["read_only"] for service in processes)


def _kept(server: Any, arguments: list[str]) -> tuple[str | None, ...]:
    """Return what the server does when its memory is full, and where it keeps what it was told."""
    options = dict(pairwise(arguments))
    mounts = [mount["mountPath"] if isinstance(mount, dict) else mount for mount in server]
    assert [options["--dir"]] == [mount.rpartition(":")[2] for mount in mounts]
    return tuple(options.get(f"--{name}") for name in ("maxmemory-policy", "appendonly", "appendfsync"))


def test_the_server_keeps_what_was_spent_over_a_restart() -> None:
    """On a volume, each record at once; nothing is thrown away to make room."""
    compose, pod = _services()["shared"], _deployments()[0]["template"]["spec"]
    (container,) = pod["containers"]
    mounted = compose["volumes"], shlex.split(compose["command"])
    claimed = container["volumeMounts"], container["args"]

    assert [("noeviction", "yes", "always")] * 2 == [_kept(*each) for each in (mounted, claimed)]
    assert "persistentVolumeClaim" in pod["volumes"][0]


def test_pods_are_two_collectors_and_three_replicas_without_rights() -> None:
    """All have the same configuration, and may change nothing of their container."""
    shared, *processes = _deployments()
    pods = [(spec["replicas"], spec["template"]["spec"]["containers"][0]) for spec in processes]

    assert ROLES == [_role(container) for count, container in pods for _ in range(count)]
    assert 1 == shared["replicas"]
    for spec in (shared, *processes):
        pod = spec["template"]["spec"]
        security = pod["containers"][0]["securityContext"]
        assert pod["securityContext"]["runAsNonRoot"]
        assert (False, True) == (security["allowPrivilegeEscalation"], security["readOnlyRootFilesystem"])
        assert ["ALL"] == security["capabilities"]["drop"]

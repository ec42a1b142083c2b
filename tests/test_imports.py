"""Rules of imports that import-linter (pyproject.toml) cannot check: circles, and the network."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter

from tests.support.source_code import ROOT, imported, is_any_of, modules, modules_imported, names_used

NETWORK = {
    *("aiohttp", "ftplib", "h2", "http.client", "http.server", "httpcore2", "httpx", "httpx2", "requests"),
    *("selectors", "smtplib", "socket", "socketserver", "ssl", "urllib.request", "urllib3", "websockets"),
}
CONNECTING = {
    *("connect_tcp", "connect_unix", "create_connection", "create_datagram_endpoint", "create_server"),
    *("create_tcp_listener", "create_udp_socket", "getaddrinfo", "open_connection", "start_server"),
}
LISTENING = {
    "web.server.connections",
    "web.cli.main",
    "web.server.lifecycle",
    "web.server.listener",
    "web.server.reader",
    "web.server.servers",
}
"""Modules that own the listening socket."""
TELLING = {"web.server.notify"}
"""A module that sends notices to the service manager of this machine."""
ASKING = {"web.cli.agents.service", "web.cli.asking", "web.client.aio", "web.client.sync"}
"""Clients of a running service."""


def test_there_are_no_circles() -> None:
    """Imports have an order within a layer, too."""
    TopologicalSorter({module: modules_imported(module) - {module} for module in modules()}).prepare()


def test_only_transports_touch_the_network() -> None:
    """Only transports, owners of the listening socket and clients import or call functions that connect."""
    outside = [module for module in modules() if not is_any_of(module, {"actors.transports"})]
    connecting = [
        (module, name)
        for module in outside
        for name in names_used(module)
        if name.rpartition(".")[2] in CONNECTING
    ]
    importing = [
        (module, name)
        for module in outside
        if module not in LISTENING | TELLING | ASKING
        for name in imported(module)
        if is_any_of(name, NETWORK)
    ]

    assert ([], []) == (connecting, importing)


def test_the_client_of_a_cluster_is_imported_where_it_is_used_alone() -> None:
    """The client is an extra: without a cluster no module imports it."""
    importing = {module for module in modules() for name in imported(module) if is_any_of(name, {"redis"})}
    code = "import sys, web.cli.main; sys.exit('redis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=60)

    assert ({"actors.cluster.redis_store"}, 0) == (importing, done.returncode)


def test_the_documented_plug_in_needs_the_source_api_alone() -> None:
    """The documented example of a plug-in imports nothing of ours but the source API."""
    document = (ROOT / "docs" / "sources.md").read_text("utf-8")
    example = re.findall(r"```python\n(.*?)```", document, re.DOTALL)[-1]
    nodes = [node for node in ast.walk(ast.parse(example)) if isinstance(node, ast.ImportFrom)]

    assert ["actors.source_api"] == [node.module for node in nodes]

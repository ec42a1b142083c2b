"""The layers of design.md, section 3: which module may import which, read from the source itself."""

from __future__ import annotations

from graphlib import TopologicalSorter

from tests.support.source_code import imported, is_any_of, modules, modules_imported, names_used

LAYERS = """
web.encoding web.endpoints web.feeds web.protocol web.server actors.pipeline actors.service
actors.source_api actors.runtime.mailbox actors.runtime.actor actors.core actors.monitoring
actors.runtime actors.board actors.recordings actors actors.sources.betfair actors.sources.football_data
actors.sources.simulated actors.sources.the_odds_api actors.core.messages actors.core.errors
actors.core.clock

actors.runtime.backoff actors.board.board actors.board.chunks actors.runtime.conflation
actors.board.history actors.core.validation actors.source_api.kinds actors.monitoring.meter
actors.board.diff actors.monitoring.logs actors.source_api.parsing actors.source_api.options
actors.source_api.plan actors.board.reclaim actors.pipeline.schedule actors.runtime.poison
actors.core.cooperative actors.board.snapshot actors.monitoring.status actors.pipeline.stream_feed
actors.source_api.stream

actors.runtime.bus actors.board.published actors.runtime.supervisor actors.transports
actors.transports.http actors.transports.inflate actors.transports.polling actors.transports.lines
actors.transports.failures actors.sources actors.sources.betfair.kind actors.sources.betfair.market
actors.sources.betfair.options actors.sources.betfair.rest actors.sources.betfair.segments
actors.sources.betfair.session actors.sources.betfair.lines actors.sources.betfair.wire
actors.sources.football_data.kind actors.sources.football_data.fixtures
actors.sources.football_data.text actors.sources.simulated.kind actors.sources.simulated.prices
actors.sources.simulated.world actors.sources.the_odds_api.kind actors.sources.the_odds_api.answers
actors.sources.the_odds_api.blocks actors.sources.the_odds_api.budget
actors.sources.the_odds_api.options actors.sources.the_odds_api.plan actors.sources.the_odds_api.wire

actors.pipeline.aggregator actors.pipeline.bookmaker actors.pipeline.context actors.pipeline.fanout
actors.pipeline.polled_source actors.monitoring.transitions actors.pipeline.stream_http
actors.pipeline.stream_delivery actors.pipeline.stream_source actors.pipeline.ticking_source

actors.recordings.betfair_historic actors.recordings.decode actors.recordings.format
actors.recordings.playback actors.recordings.reader actors.recordings.replay_kind
actors.recordings.zstd_blocks actors.service.registry

actors.service.describe actors.service.recorder actors.service.replay actors.service.settings
actors.service.system

web web.feeds.lists web.app web.feeds.subscribers web.endpoints.capabilities web.endpoints.changes
web.encoding.crc32 web.feeds.events web.protocol.guard web.protocol.fast_path web.server.lifecycle
web.server.listener web.protocol.negotiation web.endpoints.odds web.server.uvicorn_server
web.endpoints.pages web.protocol.query web.protocol.responses web.endpoints.probes web.protocol.problems
web.protocol.middleware web.encoding.schemas web.encoding.segments web.server.hypercorn_server
web.endpoints.stream web.endpoints.monitor

web.__main__
"""
"""Every module of ours, from the lowest layer to the highest; a new file has to be placed here."""

HEIGHT = {module: height for height, layer in enumerate(LAYERS.split("\n\n")) for module in layer.split()}

SEEN_BY_THE_WEB = {
    *("actors.board.history", "actors.board.snapshot", "actors.core.clock", "actors.core.errors"),
    *(
        "actors.monitoring.meter",
        "actors.core.messages",
        "actors.core.cooperative",
        "actors.monitoring.status",
        "actors.runtime.actor",
    ),
}

NETWORK = {
    *("aiohttp", "ftplib", "h2", "http.client", "http.server", "httpcore2", "httpx", "httpx2", "requests"),
    *("selectors", "smtplib", "socket", "socketserver", "ssl", "urllib.request", "urllib3", "websockets"),
}
CONNECTING = {
    *("connect_tcp", "connect_unix", "create_connection", "create_datagram_endpoint", "create_server"),
    *("create_tcp_listener", "create_udp_socket", "getaddrinfo", "open_connection", "start_server"),
}
LISTENING = {
    "web.__main__",
    "web.server.lifecycle",
    "web.server.listener",
    "web.server.uvicorn_server",
    "web.server.hypercorn_server",
}
"""They own the listening socket."""


def _arrows(package: str = "") -> list[tuple[str, str]]:
    """Give each import of one module of ours by another, those made in `package`."""
    inside = [module for module in modules() if is_any_of(module, {package}) or not package]
    return [(module, other) for module in inside for other in sorted(modules_imported(module))]


def test_every_module_has_its_layer() -> None:
    """The table names all files of both packages and nothing else."""
    assert set(modules()) == set(HEIGHT)


def test_arrows_never_reverse() -> None:
    """Nothing imports from a higher layer."""
    assert [] == [(module, other) for module, other in _arrows() if HEIGHT[other] > HEIGHT[module]]


def test_there_are_no_circles() -> None:
    """Within one layer, too, imports have an order."""
    TopologicalSorter({module: modules_imported(module) - {module} for module in modules()}).prepare()


def test_actors_know_nothing_of_the_web() -> None:
    """`actors` never imports `web`, quart or hypercorn."""
    web = {"web", "quart", "hypercorn"}
    below = [module for module in modules() if is_any_of(module, {"actors"})]

    assert [] == [(module, name) for module in below for name in imported(module) if is_any_of(name, web)]


def test_the_web_sees_little_of_the_actors() -> None:
    """Inside `web` only `__main__` imports anything of `actors` beyond what stands in SEEN_BY_THE_WEB."""
    down = [(module, other) for module, other in _arrows("web") if is_any_of(other, {"actors"})]

    hidden = [(module, other) for module, other in down if other not in SEEN_BY_THE_WEB]
    assert {"web.__main__"} == {module for module, _ in hidden}


def test_sources_do_not_know_each_other() -> None:
    """Each venue is a package of its own and imports lower layers only."""
    registry = "actors.sources"

    def venue(module: str) -> str:
        return module.split(".")[2]

    arrows = [(module, other) for module, other in _arrows(registry) if module != registry]
    assert [] == [
        (module, other)
        for module, other in arrows
        if is_any_of(other, {registry}) and venue(module) != venue(other)
    ]


def test_only_transports_touch_the_network() -> None:
    """Nobody else imports or calls what connects, but those that own the listening socket."""
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
        if module not in LISTENING
        for name in imported(module)
        if is_any_of(name, NETWORK)
    ]

    assert ([], []) == (connecting, importing)

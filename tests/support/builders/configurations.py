"""Configurations that are refused: a valid configuration, and the replacements that make it invalid."""

from __future__ import annotations

VALID = """
[server]
bind = "127.0.0.1:0"
[board]
expire_after_kickoff_s = 10800
[sources.feed]
kind = "football_data"
url = "http://127.0.0.1:9/fixtures.csv"
poll_interval_s = 900
[bookmakers.bet365]
name = "Bet365"
source = "feed"
key = "B365"
"""
URL = "http://127.0.0.1:9/fixtures.csv"
FEED, BOOKMAKER = "[sources.feed]", "[bookmakers.bet365]"
LAST = 'key = "B365"'

# The replaced text of the valid configuration, its replacement, and a part of the error line.
INVALID = {
    "unknown table": (
        FEED,
        '[sorces.feed]\nkind = "simulated"\n[sources.feed]',
        "sorces is not an option, must be one of sources, bookmakers, server,",
    ),
    "misspelt table": ("[server]", "[sever]", "; did you mean 'server'?"),
    "unknown top-level key": ("\n[server]", "colour = 1\n[server]", "colour"),
    "unknown server option": (
        "[server]",
        "[server]\nport = 80",
        "server.port is not an option, must be one of bind, drain_s, max_streams, log_level",
    ),
    "unknown board option": ("[board]", "[board]\nsize = 3", "board.size"),
    "unknown source option": (FEED, f"{FEED}\ninterval = 3", "sources.feed.interval"),
    "unknown bookmaker option": (BOOKMAKER, f"{BOOKMAKER}\nmargin = 3", "bookmakers.bet365.margin"),
    "bind without a port": ('"127.0.0.1:0"', '"127.0.0.1"', "server.bind"),
    "bind with a large port": ('"127.0.0.1:0"', '"127.0.0.1:65536"', "server.bind"),
    "bind of another type": (
        '"127.0.0.1:0"',
        "8000",
        "bind was 8000, must be text, HOST:PORT or unix:/PATH, like ",
    ),
    "negative drain": ("[server]", "[server]\ndrain_s = -1", "server.drain_s"),
    "endless drain": ("[server]", "[server]\ndrain_s = inf", "server.drain_s"),
    "unknown log level": ("[server]", '[server]\nlog_level = "warn"', "; did you mean 'warning'?"),
    "streams as text": ("[server]", '[server]\nmax_streams = "all"', "server.max_streams"),
    "fewer streams than none": ("[server]", "[server]\nmax_streams = -1", "server.max_streams"),
    "no history": ("[board]", "[history]\nmax_changes = 0\n[board]", "history.max_changes"),
    "unknown key of the history": ("[board]", "[history]\nmax = 1\n[board]", "history.max"),
    "commission in per cent": (
        LAST,
        f"{LAST}\ncommission = 5",
        "bookmakers.bet365.commission was 5, must be a number from 0 to 0.5, where 0.05 is 5 %",
    ),
    "commission not a number": (LAST, f"{LAST}\ncommission = nan", "bookmakers.bet365.commission"),
    "unknown method": ("[board]", '[fair]\nmethod = "additive"\n[board]', "fair.method"),
    "no age": ("[board]", "[surebets]\nmax_age_s = 0\n[board]", "surebets.max_age_s"),
    "profit in per cent": (
        "[board]",
        "[surebets]\nmax_profit = 10\n[board]",
        "surebets.max_profit was 10, must be a number above 0 and at most 1, where 0.1 is 10 %",
    ),
    "profit not a number": ("[board]", "[surebets]\nmax_profit = nan\n[board]", "surebets.max_profit"),
    "unknown key of surebets": ("[board]", "[surebets]\nmax = 1\n[board]", "surebets.max"),
    "no file of links": ("[board]", '[links]\nfile = "not_there.toml"\n[board]', "links.file"),
    "no request at all": ("[board]", "[limits]\nrequests_per_s = 0\n[board]", "limits.requests_per_s"),
    "requests without end": ("[board]", "[limits]\nrequests_per_s = inf\n[board]", "limits.requests_per_s"),
    "requests not a number": (
        "[board]",
        "[limits]\nrequests_per_s = nan\n[board]",
        "limits.requests_per_s",
    ),
    "burst of nothing": ("[board]", "[limits]\nburst = 0\n[board]", "limits.burst"),
    "no room for clients": ("[board]", "[limits]\nmax_clients = 0\n[board]", "limits.max_clients"),
    "unknown limit": ("[board]", "[limits]\nrate = 1\n[board]", "limits.rate"),
    "one proxy as text": (
        "[board]",
        '[limits]\ntrusted_proxies = "local"\n[board]',
        "limits.trusted_proxies",
    ),
    "proxy by name": (
        "[board]",
        '[limits]\ntrusted_proxies = ["nginx"]\n[board]',
        "'nginx', must have addresses",
    ),
    "proxy that is a host in a network": (
        "[board]",
        '[limits]\ntrusted_proxies = ["::1", "10.0.0.1/8"]\n[board]',
        "limits.trusted_proxies has '10.0.0.1/8', must have '10.0.0.0/8' for the network or '10.0.0.1' for",
    ),
    "proxy in IPv6 disguise": (
        "[board]",
        '[limits]\ntrusted_proxies = ["::ffff:10.0.0.1"]\n[board]',
        "limits.trusted_proxies has '::ffff:10.0.0.1', must have IPv4 addresses as such, like '10.0.0.1'",
    ),
    "expiry at once": ("10800", "0", "board.expire_after_kickoff_s"),
    "expiry as text": (
        "10800",
        '"3 h"',
        "board.expire_after_kickoff_s was '3 h', must be a number",
    ),
    "no kind": ('kind = "football_data"', "", "sources.feed.kind"),
    "unknown kind": ('"football_data"', '"footbal"', "; did you mean 'football_data'?"),
    "no url": (f'url = "{URL}"', "", "feed.url is missing, must be text: the address to poll"),
    "url without a scheme": (
        "http://127.0.0.1:9",
        "feed.example",
        "; did you mean 'https://feed.example/fixtures.csv'?",
    ),
    "url of a file": (URL, "file:///etc/passwd", "sources.feed.url"),
    "url without a host": (URL, "https:///x.csv", "sources.feed.url"),
    "url with a broken host": (URL, "http://[::1/x.csv", "sources.feed.url"),
    "url with an impossible port": (URL, "http://127.0.0.1:99999/x.csv", "sources.feed.url"),
    "poll interval of nothing": ("= 900", "= 0", "sources.feed.poll_interval_s"),
    "negative poll interval": ("= 900", "= -900", "sources.feed.poll_interval_s"),
    "poll interval not a number": ("= 900", "= nan", "sources.feed.poll_interval_s"),
    "endless poll interval": ("= 900", "= inf", "sources.feed.poll_interval_s"),
    "poll interval as truth": ("= 900", "= true", "sources.feed.poll_interval_s"),
    "timeout of nothing": (FEED, f"{FEED}\ntimeout_s = 0", "sources.feed.timeout_s"),
    "stale at once": (FEED, f"{FEED}\nstale_after_s = 0", "sources.feed.stale_after_s"),
    "never stale": (FEED, f"{FEED}\nstale_after_s = inf", "sources.feed.stale_after_s"),
    "fraction of a byte": (FEED, f"{FEED}\nmax_payload_bytes = 0.5", "sources.feed.max_payload_bytes"),
    "book sums the wrong way round": (FEED, f"{FEED}\nbook_sum_min = 1.5", "sources.feed.book_sum_min"),
    "book sum not a number": (FEED, f"{FEED}\nbook_sum_max = nan", "sources.feed.book_sum_max"),
    "no name": ('name = "Bet365"\n', "", "bookmakers.bet365.name"),
    "empty name": ('name = "Bet365"', 'name = ""', "bookmakers.bet365.name"),
    "unknown source": ('source = "feed"', 'source = "fed"', "must be one of feed; did you mean 'feed'?"),
    "no source": ('source = "feed"', "", "source is missing, must be the name of a table [sources.NAME]"),
    "aggregate as a key": (LAST, 'key = "Max"', "bookmakers.bet365.key"),
    "number as a key": (LAST, "key = 365", "bookmakers.bet365.key"),
    "two with one key": (
        LAST,
        f'{LAST}\n[bookmakers.twin]\nname = "T"\nsource = "feed"\n{LAST}',
        "bookmakers.twin.key",
    ),
    "bookmaker id in capitals": ("bookmakers.bet365", "bookmakers.Bet365", "bookmakers.Bet365"),
    "bookmaker id with an underscore": (
        "bookmakers.bet365",
        "bookmakers.Bet_365",
        "; did you mean 'bet-365'?",
    ),
    "source that nobody uses": (FEED, f'[sources.idle]\nkind = "simulated"\n{FEED}', "sources.idle"),
    "name of another bookmaker": (
        LAST,
        f'{LAST}\n[bookmakers.bet]\nname = "Bet365"\nsource = "feed"\nkey = "BW"',
        "bookmakers.bet.name was 'Bet365', which bookmakers.bet365 has already, must be",
    ),
    "name of another bookmaker, of another company": (
        LAST,
        f'{LAST}\n[bookmakers.bet]\nname = "Bet365"\nsource = "feed"\nkey = "BW"\ncompany = "bet"',
        "or both must have the same company",
    ),
    "an archive that is a file": (
        "[board]",
        '[archive]\npath = "/etc/passwd/odds"\n[board]',
        "archive.path was '/etc/passwd/odds', must be a folder: /etc/passwd is a file",
    ),
    "an archive of the kernel": (
        "[board]",
        '[archive]\npath = "/proc/odds"\n[board]',
        "archive.path was '/proc/odds', must be a folder in which files stay",
    ),
    "a queue that is a folder": (
        "[board]",
        '[alerts]\npath = "/etc"\n[board]',
        "alerts.path was '/etc', must be a file, not a folder",
    ),
    "a receiver without a kind": (FEED, f"[receivers.me]\n{FEED}", "receivers.me.kind is missing"),
    "a receiver of no kind": (
        FEED,
        f'[receivers.me]\nkind = "pager"\n{FEED}',
        'receivers.me.kind was \'pager\', must be "webhook" or "ntfy"',
    ),
    "a receiver's variable": (
        FEED,
        f'[receivers.me]\nkind = "slack"\nurl = "${{NOWHERE_TO_BE_FOUND}}"\n{FEED}',
        "receivers.me.url refers to ${NOWHERE_TO_BE_FOUND}, which is not set in the environment",
    ),
    "a receiver's secret with a blank": (
        FEED,
        f'[receivers.me]\nkind = "slack"\nurl = "https://h.example/a b"\n{FEED}',
        "receivers.me.url was '***', must be text of 1 to 2048 ASCII characters, no spaces",
    ),
    "a receiver's program": (
        FEED,
        f'[receivers.me]\nkind = "exec"\ncommand = ["not-there"]\n{FEED}',
        "receivers.me.command was 'not-there', which is no program in $PATH",
    ),
    "a rule's receiver": (
        FEED,
        (
            '[receivers.phone]\nkind = "ntfy"\nurl = "https://n.example/t"\n'
            f'[[alert]]\nname = "x"\nwhen = "source"\nto = ["phon"]\n{FEED}'
        ),
        "alert.x.to was 'phon', must be one of phone; did you mean 'phone'?",
    ),
    "a receiver's name": (FEED, f'[receivers."My Phone"]\n{FEED}', "receivers.My Phone must be a table"),
    "missing variable": (URL, "http://x/${NOWHERE_TO_BE_FOUND}", "sources.feed.url"),
    "not TOML": (FEED, "[sources.feed", "line"),
    "key twice": (LAST, f"{LAST}\n{LAST}", "key is there already, in line 13"),
    "table twice": (BOOKMAKER, f"{FEED}\n{BOOKMAKER}", "[sources.feed] is there already, in line 6"),
    "decimal comma": ("= 900", "= 900,5", "poll_interval_s has a decimal comma, must have a point"),
    "curly quotes": (LAST, "key = “B365”", 'key has curly quotes, must have straight ones: "..."'),
    "text without quotes": (LAST, "key = B365", 'key is a text without quotes, must have them: "..."'),
    "text without an end": (LAST, 'key = "B365', "key has no quote at its end"),
    "path of Windows": (URL, "C:\\Users", "url has a backslash, must be in single quotes: '...'"),
    "capital of Python": (LAST, f"{LAST}\nlive = True", "live must be true or false in lower case"),
    "nested without end": ("= 900", "= " + "[" * 5000 + "]" * 5000, "TOML"),
    "number without end": ("= 900", "= " + "9" * 5000, "TOML"),
    "key without end": (LAST, f"{LAST}\n{'a.' * 5000}b = 1", "TOML"),
}

API = """
[sources.api]
kind = "the_odds_api"
api_key = "s3cret-that-nobody-may-see"
sports = ["soccer_epl", "soccer_spl"]
[bookmakers.pinnacle]
source = "api"
key = "pinnacle"
"""
API_KEY = 'api_key = "s3cret-that-nobody-may-see"'
SPORTS = '["soccer_epl", "soccer_spl"]'

INVALID_API = {
    "no key": (API_KEY, "", "sources.api.api_key"),
    "key of a variable that is not set": (
        API_KEY,
        'api_key = "${NOWHERE_TO_BE_FOUND}"',
        "sources.api.api_key",
    ),
    "key with a variable as shells write it": (
        API_KEY,
        'api_key = "$s3cret_that"',
        "sources.api.api_key has a $ that begins no ${NAME}, must be $$ for a dollar",
    ),
    "key with a variable that has no end": (API_KEY, 'api_key = "${s3cret"', "begins no ${NAME}"),
    "key with a default": (API_KEY, 'api_key = "${PATH:-s3cret}"', "did you mean ${PATH}?"),
    "empty key": (
        API_KEY,
        'api_key = ""',
        "sources.api.api_key was '', must be text of 1 to 256 printable ASCII characters",
    ),
    "key with a line break": (API_KEY, 'api_key = "s3cret\\nthat"', "sources.api.api_key"),
    "key of another type": (API_KEY, "api_key = 3", "sources.api.api_key"),
    "no sports": (SPORTS, "[]", "sources.api.sports"),
    "sports of all kinds": (SPORTS, '"all"', "sources.api.sports"),
    "a sport as text": (SPORTS, '"soccer_a, soccer_b"', """; did you mean ["soccer_a", "soccer_b"]?"""),
    "a misspelt sport": (SPORTS, '"footbal"', "; did you mean 'football'?"),
    "another sport": (SPORTS, '["basketball_nba"]', "sources.api.sports"),
    "a sport that changes the address": (SPORTS, '["soccer_epl/../x?y="]', "sources.api.sports"),
    "a region that changes the address": (SPORTS, f'{SPORTS}\nregions = ["eu&x="]', "sources.api.regions"),
    "no credits": (SPORTS, f"{SPORTS}\ncredits_per_day = 0", "sources.api.credits_per_day"),
    "less than one call": (SPORTS, f"{SPORTS}\ncredits_per_day = 0.5", "sources.api.credits_per_day"),
    "staler than polled": (SPORTS, f"{SPORTS}\nstale_after_s = 59", "sources.api.stale_after_s"),
    "staler than paid": (
        SPORTS,
        f"{SPORTS}\ncredits_per_day = 16\nstale_after_s = 3600",
        "sources.api.stale_after_s",
    ),
    "a bookmaker that changes the address": ('key = "pinnacle"', 'key = "a&b"', "bookmakers.pinnacle.key"),
}

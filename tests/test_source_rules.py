"""Rules for every source file: no effects on import, sizes, and calls that only one place may make."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

from tests.support.source_code import ROOT, files, imported, is_any_of, modules, names_used

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 40

HARMLESS_CALLS = {
    *("NewType", "ParamSpec", "TypeVar", "Meta", "dataclass", "field", "msgspec.field", "every"),
    *("BookmakerId", "Scope", "SourceName", "PolledKind", "StreamKind", "TickingKind"),  # values of ours
    *("BoardRules", "Caps", "HistoryLimits", "Limits", "Memo", "Refusal", "ServerSettings", "replay_kind"),
    *(
        "Answer",
        "Link",
        "Operation",
        "Parameter",
        "operation",
        "pages.operation",
        "COMMON.items",
    ),  # declarations of endpoints
    *("stored", "tuple", "RunVar", "lru_cache"),
    *("Condition", "NameEvidence", "TeamClass"),
    *(
        "Path",
        "Path(__file__).resolve",
        "Path(__file__).with_name",
        "(Path(__file__).parent / 'config').resolve",
        "ZoneInfo",
    ),

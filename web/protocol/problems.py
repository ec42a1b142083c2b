"""What a handler raises to answer with an error; `responses.py` makes the document."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Problem(Exception):
    """An error for the client: a stable `code`, a `detail` for people, further members in `extra`."""

    status: int
    code: str
    detail: str
    headers: dict[str, str] = field(default_factory=dict)
    extra: dict[str, int | str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.detail

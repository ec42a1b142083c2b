"""Runs code with another call before a chosen instruction, as another thread could make that call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any


def interleaved(
    run: Callable[[], object], module: ModuleType, at: int, other: Callable[[], object]
) -> bool:
    """Run, and call `other` before instruction number `at` of a module; return whether this was reached.

    Instructions of the bytecode of all functions of the module are counted as they are carried out.
    """
    left = at
    file = Path(str(module.__file__))

    def instruction(_: FrameType, event: str, __: Any) -> Any:
        nonlocal left
        if event == "opcode":
            left -= 1
            if left == -1:
                other()
        return instruction

    def called(frame: FrameType, _: str, __: Any) -> Any:
        if Path(frame.f_code.co_filename) != file:
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return instruction

    before = sys.gettrace()
    sys.settrace(called)
    try:
        run()
    finally:
        sys.settrace(before)
    return left < 0

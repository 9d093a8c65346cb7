"""The compiler process: `python -m hlo_widgets.compiler.worker TOOLCHAIN [--explain]`.

It reads requests as frames from its standard input and answers each with one frame on its standard
output. It ends when its input ends, even in the middle of a compile, so that it never outlives the
process that started it; and when it has had nothing to do for a while. Its standard error is the
compiler's log.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, BinaryIO

from hlo_widgets.compiler.environment import toolchain_variables
from hlo_widgets.compiler.flag_dump import dump_flags
from hlo_widgets.compiler.framing import FrameError, read_frame, write_frame
from hlo_widgets.compiler.handshake import worker_hello
from hlo_widgets.compiler.memory_limit import watch_memory
from hlo_widgets.compiler.refusals import explained
from hlo_widgets.compiler.toolchains import (
    MovedInternalsError,
    Request,
    Toolchain,
    WrongDeviceCountError,
)

__all__ = ["answer", "main"]

# A worker is started before its first program is traced, so that one waits longer. Arbitrary.
_FIRST_REQUEST_SECONDS = 60.0

_Request = tuple[dict[str, Any], bytes]


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer requests until the input ends or there is nothing to do."""
    parser = argparse.ArgumentParser(prog="hlo_widgets.compiler.worker", description=__doc__)
    parser.add_argument("toolchain", choices=("cpu", "tpu", "cuda"))
    parser.add_argument("--idle-seconds", type=float, default=600.0)
    parser.add_argument("--memory-bytes", type=int)
    parser.add_argument("--explain", action="store_true")
    options = parser.parse_args(arguments)
    # The user's Ctrl-C is for the user's process, which decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(toolchain_variables(options.toolchain, explain=options.explain))
    replies = _claim_standard_output()
    requests: queue.SimpleQueue[_Request] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    try:
        write_frame(replies, worker_hello(options.toolchain))
        if options.memory_bytes is not None:
            watch_memory(options.memory_bytes, _end)
        toolchain = _toolchain(options.toolchain, explain=options.explain)
        _answer_requests(toolchain, requests, replies, options.idle_seconds)
        write_frame(replies, {"kind": "idle"})
    except BrokenPipeError:
        pass  # nobody is left to answer
    except BaseException:  # noqa: BLE001 - this is where the process ends
        traceback.print_exc()
        _end(1)
    _end()


def _toolchain(platform: str, *, explain: bool) -> Toolchain:
    if not explain:
        return Toolchain(platform)
    # A plain worker need not know how to read a compiler's records.
    from hlo_widgets.compiler.explaining import ExplainingToolchain

    return ExplainingToolchain(platform)


def _claim_standard_output() -> BinaryIO:
    """Keep the real standard output for frames, and send what C++ code prints there to the log."""
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own


def _read_requests(requests: queue.SimpleQueue[_Request]) -> None:
    # Whatever ends the requests ends the process; even saying so fails where nobody reads any more.
    try:
        while (frame := read_frame(sys.stdin.buffer)) is not None:
            requests.put(frame)
    except FrameError as error:
        print(f"not a request: {error}", file=sys.stderr)  # noqa: T201 - the log
    finally:
        _end()


def _end(status: int = 0) -> None:
    # Not sys.exit: another thread may be deep in a compiler, and that one never comes back.
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(status)


def _answer_requests(
    toolchain: Toolchain,
    requests: queue.SimpleQueue[_Request],
    replies: BinaryIO,
    idle_seconds: float,
) -> None:
    wait_seconds = max(idle_seconds, _FIRST_REQUEST_SECONDS)
    while True:
        try:
            request, content = requests.get(timeout=min(wait_seconds, threading.TIMEOUT_MAX))
        except queue.Empty:
            return
        wait_seconds = idle_seconds
        header, body = answer(toolchain, request, content)
        write_frame(replies, {**header, "id": request.get("id")}, body)


def answer(
    toolchain: Toolchain, request: dict[str, Any], content: bytes
) -> tuple[dict[str, Any], bytes]:
    """Answer one request.

    Args:
        toolchain: What to compile with.
        request: The fields of a `Request`.
        content: The program.

    Returns:
        Header and bytes of the reply: as `_answer`, or of kind "moved" where the program should be
        sent in the public form, or of kind "refused" with the compiler's words.
    """
    try:
        return _answer(toolchain, _read_request(request), content)
    except MovedInternalsError as error:
        return {"kind": "moved", "reason": str(error)}, b""
    except WrongDeviceCountError as error:
        return {"kind": "refused", "reason": str(error), "is_expected": True}, b""
    except Exception as error:  # noqa: BLE001 - whatever a compiler raises is an answer, not the end of its process
        return _refusal(error), b""


def _answer(toolchain: Toolchain, wanted: Request, content: bytes) -> tuple[dict[str, Any], bytes]:
    """Answer with a reply of kind "compiled", with the text and the packed records.

    A request that draws is answered with the records alone, "drawn"; one of the form "flags" with
    their list.
    """
    if wanted.form == "flags":
        return {"kind": "flags"}, _flags(toolchain, wanted)
    compiled = toolchain.compile(wanted, content)
    made = compiled.made
    if wanted.draws:
        header = {"records_left_out": made.records_left_out, "notes": made.notes}
        return {"kind": "drawn", **header, "is_whole": made.is_whole}, made.records
    header = {
        "kind": "compiled",
        "compile_seconds": made.compile_seconds,
        "devices": made.devices,
        "is_from_dump": made.is_from_dump,
        "has_figures": compiled.has_figures,
        "why_no_figures": compiled.why_no_figures,
        "versions": toolchain.versions(wanted),
        "records_bytes": len(made.records),
        "records_left_out": made.records_left_out,
        "notes": made.notes,
        "can_draw": made.can_draw,
        "is_whole": made.is_whole,
    }
    return header, made.hlo_text.encode() + made.records


def _flags(toolchain: Toolchain, wanted: Request) -> bytes:
    flags = dump_flags(toolchain.platform, wanted.topology, wanted.topology_options)
    return json.dumps([astuple(flag) for flag in flags]).encode()


def _read_request(request: dict[str, Any]) -> Request:
    spreads = request.get("spreads")
    return Request(
        form=request["form"],
        topology=request["topology"],
        topology_options=request["topology_options"],
        flags=request["flags"],
        spreads=None if spreads is None else (tuple(spreads[0]), tuple(spreads[1])),
        draws=request.get("draws", False),
    )


def _refusal(error: Exception) -> dict[str, Any]:
    name = type(error).__name__
    if name in {"JaxRuntimeError", "XlaRuntimeError"}:
        # The compiler's own errors speak for themselves.
        return {"kind": "refused", "reason": explained(str(error)), "is_expected": True}
    traceback.print_exc()
    return {"kind": "refused", "reason": f"{name}: {error}", "is_expected": False}


if __name__ == "__main__":
    main()

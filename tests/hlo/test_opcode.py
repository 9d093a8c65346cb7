"""The classes of opcodes: spelled as XLA spells them, and the pairs of asynchronous operations."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from hlo_widgets.hlo import opcode

# Prints which of the opcodes on standard input XLA's parser does not know. A fork tries each,
# because XLA ends the process on some opcodes without operands; it knows these.
UNKNOWN_TO_XLA = """
import json, os, sys
from jaxlib import _hlo

def is_unknown(name):
    try:
        _hlo.hlo_module_from_text("HloModule m ENTRY e { ROOT x = f32[] " + name + "() }\\n")
    except Exception as error:
        return "expects opcode" in str(error) or "wrapped opcode" in str(error)
    return False

unknown = []
for name in json.load(sys.stdin):
    child = os.fork()
    if child == 0:
        os._exit(17 if is_unknown(name) else 0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17:
        unknown.append(name)
print(json.dumps(unknown))
"""


def unknown_to_xla(names: list[str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", UNKNOWN_TO_XLA],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_classes_hold_opcodes_of_xla() -> None:
    pytest.importorskip("jaxlib._hlo", reason="jaxlib is not installed or has moved its HLO parser")
    classes = [value for value in vars(opcode).values() if isinstance(value, frozenset)]
    names = sorted(frozenset().union(*classes))
    assert len(names) > 100
    assert unknown_to_xla([*names, "no-such-opcode"]) == ["no-such-opcode"]


def test_asynchronous_pairs() -> None:
    assert opcode.async_base("copy-start") == "copy"
    assert opcode.async_base("all-gather-done") == "all-gather"
    assert opcode.async_base("custom-call-update") == "custom-call"
    assert opcode.async_base("send-done") == "send"
    assert opcode.async_base("add") is None
    assert opcode.is_async_start("slice-start")
    assert opcode.is_async_start("recv")
    assert not opcode.is_async_start("copy-done")
    assert opcode.is_async_done("copy-done")
    assert not opcode.is_async_done("copy-update")

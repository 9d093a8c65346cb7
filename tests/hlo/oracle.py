"""XLA's own parser as the judge, in a child process: it aborts on some inputs.

Run as a program it reads one request a line, `{"text": ...}`, and answers each with one line of
JSON: the structure of the module, or the error. `Oracle` starts it, and starts another when it
dies.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


class Oracle:
    """Asks XLA's parser about texts."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def structure(self, text: str):
        """Return what XLA reads; None where it refuses the text, "crash" where it dies of it."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
            )
        process = self._process
        try:
            process.stdin.write(json.dumps({"text": text}) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.close()
            return "crash"
        return json.loads(answer)["module"]

    def close(self) -> None:
        """End the child process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


def _read(text: str):
    from jaxlib import _hlo

    try:
        module = _hlo.hlo_module_from_text(text)
    except Exception:  # noqa: BLE001 (whatever it raises is a refusal)
        return None
    written = _serialized(module.as_serialized_hlo_module_proto())
    return {
        "name": module.name,
        "text": module.to_string(),
        "roots": {name: computation["root"] for name, computation in written.items()},
        "computations": [
            [
                computation.name,
                [
                    _instruction(item, written[computation.name]["instructions"])
                    for item in computation.instructions()
                ],
            ]
            for computation in module.computations()
        ],
    }


def _instruction(item, written):
    # The opcode's enum does not know every opcode; the text and the serialised form do. Of an
    # asynchronous start the text prints what it runs.
    return {
        "name": item.name,
        "operands": [operand.name for operand in item.operands()],
        "users": [user.name for user in item.users()],
        "text": item.to_string(),
        **written[item.name],
    }


def _serialized(data: bytes):
    """What only an HloModuleProto says: opcodes, called computations and roots, by name."""
    computations = [dict(_fields(value)) for key, value in _fields(data) if key == 3]
    parts = [_fields(value) for key, value in _fields(data) if key == 3]
    names = {item.get(5, 0): item[1].decode() for item in computations}
    found = {}
    for fields, computation in zip(parts, computations, strict=True):
        instructions = {}
        root = None
        for item in (list(_fields(value)) for key, value in fields if key == 2):
            facts = dict(item)
            called = [number for key, value in item if key == 38 for number in _numbers(value)]
            name = facts[1].decode()
            instructions[name] = {
                "opcode": facts[2].decode(),
                "calls": [names[number] for number in called],
            }
            if facts.get(35, 0) == computation.get(6, 0):
                root = name
        found[computation[1].decode()] = {"root": root, "instructions": instructions}
    return found


def _fields(data: bytes) -> list:
    """The fields of a protocol buffer: numbers, and bytes for what has a length."""
    found, at = [], 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
        else:
            size, at = _varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at : at + size], at + size
        found.append((tag >> 3, value))
    return found


def _numbers(value) -> list:
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(number)
    return found


def _varint(data: bytes, at: int):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return number, at


def _main() -> None:
    for line in sys.stdin:
        module = _read(json.loads(line)["text"])
        sys.stdout.write(json.dumps({"module": module}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()

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
    return {
        "name": module.name,
        "text": module.to_string(),
        "computations": [
            [computation.name, [_instruction(item) for item in computation.instructions()]]
            for computation in module.computations()
        ],
    }


def _instruction(item):
    # The opcode's enum does not know every opcode; the text of the instruction does.
    return {
        "name": item.name,
        "operands": [operand.name for operand in item.operands()],
        "users": [user.name for user in item.users()],
        "text": item.to_string(),
    }


def _main() -> None:
    for line in sys.stdin:
        module = _read(json.loads(line)["text"])
        sys.stdout.write(json.dumps({"module": module}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()

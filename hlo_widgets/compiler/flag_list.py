"""`list_flags`: the flags that a target's compiler itself lists."""

from __future__ import annotations

import json
import threading
from collections.abc import Hashable

from hlo_widgets.compiler.availability import require_available
from hlo_widgets.compiler.environment import compiler_variables
from hlo_widgets.compiler.flag_records import CompilerFlag
from hlo_widgets.compiler.handshake import installed_versions
from hlo_widgets.compiler.pool import workers
from hlo_widgets.compiler.settings import settings
from hlo_widgets.compiler.targets import Target, find_target
from hlo_widgets.errors import CompileError

__all__ = ["CompilerFlag", "list_flags"]

_KNOWN: dict[Hashable, list[CompilerFlag]] = {}
_LOCKS: dict[Hashable, threading.Lock] = {}


def list_flags(target: str | Target = "v6e") -> list[CompilerFlag]:
    """List the flags that the compiler of a target knows, with the values that they have.

    The compiler process is asked once; that takes about a second. A TPU's compiler lists some
    1,600 flags and explains few of them.

    Args:
        target: As `compile_for` takes it.

    Returns:
        Each with its name, value, type and, where the compiler has words for it, help; in the order
        of their names. A few flags that XLA has no value for are in no such list.

    Raises:
        UnknownTargetError: If there is no such target.
        TargetUnavailableError: If its compiler is not installed here.
        CompileError: If the compiler cannot be asked.
    """
    chosen = find_target(target)
    if settings.command is None:
        require_available(chosen)
    facts = (settings.command, chosen.name, *sorted(compiler_variables().items()))
    key = (*facts, *sorted(installed_versions(chosen.platform).items()))
    # What is known waits for nobody: a compiler that is asked may be busy for minutes.
    if key not in _KNOWN:
        with _LOCKS.setdefault(key, threading.Lock()):  # whoever comes meanwhile does not ask, too
            if key not in _KNOWN:
                _KNOWN[key] = _ask(chosen)
    return list(_KNOWN[key])


def _ask(target: Target) -> list[CompilerFlag]:
    header = {
        "form": "flags",
        "topology": target.topology,
        "topology_options": dict(target.topology_options),
        "flags": {},
    }
    reply = workers.request(target.platform, target.name, header, b"")
    if reply.header["kind"] != "flags":
        raise CompileError(target.name, reply.header["reason"])
    return [CompilerFlag(*row) for row in json.loads(reply.body)]

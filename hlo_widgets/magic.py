"""The cell magic `%%hlo_fusion`: a cell that ends in a call shows what the compiler makes of it.

The cell runs as it would without the magic, down to its last expression. Of that call the function
and the arguments are evaluated and the call is not made: the function is compiled for a target with
arguments like these, and the result is explored.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import keyword
import re
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from hlo_widgets import api
from hlo_widgets.compiler import find_target
from hlo_widgets.errors import HloWidgetsError

if TYPE_CHECKING:
    from hlo_widgets.widgets import Explorer

__all__ = ["FusionMagics", "load_ipython_extension"]

# The last call is evaluated with this in the place of its function; no user has a name like it.
_COLLECT = "__hlo_fusion_collect__"

# What IPython calls the results of the latest cells: `_`, `__`, `___`, `_12`.
_RESULT_NAME = re.compile(r"_+|_[0-9]+")

# Modules whose frames can lie above the user's code; the second one parses the cell.
_NOT_THE_USERS = ("hlo_widgets.", "IPython.core.compilerop")

_LAST_LINE = (
    "the last line of a %%hlo_fusion cell must be a call, such as f(x) with the function and its "
    "arguments; it is not run, but compiled"
)


def load_ipython_extension(ipython: Any) -> None:
    """Register the magic with an IPython shell."""
    ipython.register_magics(FusionMagics)


@magics_class
class FusionMagics(Magics):
    """The magics of this package."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        # What each cell has shown; whoever has an Explorer keeps it, not this list.
        self._explorers: WeakValueDictionary[str, Explorer] = WeakValueDictionary()

    @magic_arguments()
    @argument("--target", default=api.DEFAULT_TARGET, help="what to compile for (default: v6e)")
    @argument(
        "--flag",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a compiler option, such as xla_jf_enable_multi_output_fusion=False; repeatable",
    )
    @argument(
        "--explain",
        action="store_true",
        help="also ask the compiler why ops were fused or not; takes longer",
    )
    @argument("--name", help="also bind the explorer to this variable")
    @cell_magic
    def hlo_fusion(self, line: str, cell: str) -> Any:
        """Compile the last call of the cell for a target and explore what it became.

        Everything above the last line runs as usual. The last line must be a call; its function and
        arguments are evaluated, and instead of being made the call is compiled. Arguments can be
        arrays or shapes such as `hw.spec("bf16[1024,512]")`.

        When the cell is run again, what it has shown before is closed, unless a variable of another
        name than `--name` still holds it: then it stays as it is, wherever it is displayed.
        """
        from hlo_widgets.widgets.progress_line import progress_line

        options = parse_argstring(self.hlo_fusion, line)
        if options.name is not None and not _is_variable(options.name):
            raise UsageError(f"--name {options.name}: not a name that a variable can have")
        flags = _flags(options.flag)
        try:
            target = find_target(options.target).name
            call = self._run_down_to_the_call(line, cell)
            with progress_line(self.shell, target):
                explorer = api.explore_call(
                    *call, target=target, flags=flags, explain=options.explain
                )
        except Exception as error:
            self._show_from_the_cell_on(error)
            raise
        self._close_the_last_one(explorer, options.name)
        if options.name is not None:
            self.shell.push({options.name: explorer})
        return explorer

    def _close_the_last_one(self, explorer: Explorer, name: str | None) -> None:
        """Close what an earlier run of the same cell has shown, unless the user has kept it.

        Args:
            explorer: What this run shows.
            name: The variable that will hold it, in the place of the earlier one.
        """
        cell_id = _cell_id(self.shell)
        if cell_id is None:
            return
        earlier = self._explorers.get(cell_id)
        self._explorers[cell_id] = explorer
        if earlier is not None and not self._is_kept(earlier, name):
            earlier.close()

    def _is_kept(self, explorer: Explorer, name: str | None) -> bool:
        """Whether a variable of another name holds it; lists and the like are not looked into."""
        return any(
            value is explorer and other != name and _RESULT_NAME.fullmatch(other) is None
            for other, value in list(self.shell.user_ns.items())
        )

    def _run_down_to_the_call(
        self, line: str, cell: str
    ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Run the cell but for its last call, and return that call's function and arguments."""
        shell = self.shell
        # A comment stands where the magic stood, so that line numbers are those of the cell.
        source = shell.transform_cell(f"# %%hlo_fusion {line}\n{cell}")
        raw = self._raw_cell(line, cell)
        file = shell.compile.cache(source, shell.execution_count, raw_code=raw)
        tree = shell.transform_ast(shell.compile.ast_parse(source, filename=file))
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
            raise UsageError(_LAST_LINE)
        spaces = (shell.user_global_ns, shell.user_ns)
        for statement in tree.body[:-1]:
            module = ast.Module([statement], type_ignores=[])
            exec(shell.compile(module, file, "exec"), *spaces)  # noqa: S102 - the user's own cell
        shell.user_global_ns[_COLLECT] = _collect
        try:
            call = shell.compile(_collecting(last.value), file, "eval")
            return eval(call, *spaces)  # noqa: S307 - the user's own cell
        finally:
            del shell.user_global_ns[_COLLECT]

    def _show_from_the_cell_on(self, error: Exception) -> None:
        """Let IPython leave out of the traceback what lies between the shell and the user's code.

        Of an error of this package the message is all there is to see. IPython has its own ways for
        wrong options and syntax errors.
        """
        kind, tb = type(error), _from_the_cell_on(error)
        shown: Callable[[], list[str]] | None = None
        if isinstance(error, HloWidgetsError):
            shown = functools.partial(list, [f"{kind.__name__}: {error}"])
        elif tb is not None:
            traceback = self.shell.InteractiveTB.structured_traceback
            shown = functools.partial(traceback, kind, error, tb, tb_offset=0)
        if shown is not None:
            # A class of errors may forbid new attributes; then the whole traceback is shown.
            with contextlib.suppress(AttributeError, TypeError):
                error._render_traceback_ = shown
        if tb is not None or isinstance(error, SyntaxError):
            error.with_traceback(tb)

    def _raw_cell(self, line: str, cell: str) -> str:
        """Return the cell as the user wrote it: the kernel names the cell's file by its text."""
        history = self.shell.history_manager
        newest = history.input_hist_raw[-1] if history is not None else ""
        # The history has the cell without its last line break, and lacks it where none is stored.
        body = cell.rstrip("\n")
        return newest if newest.endswith(body) else f"%%hlo_fusion {line}\n{body}"


def _cell_id(shell: Any) -> str | None:
    """Return what the front end knows the running cell by; `None` where it does not say."""
    kernel = getattr(shell, "kernel", None)
    found = None if kernel is None else kernel.get_parent().get("metadata", {}).get("cellId")
    return found if isinstance(found, str) else None


def _is_variable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _collect(fun: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    return fun, args, kwargs


def _collecting(call: ast.Call) -> ast.Expression:
    """Turn `f(*args, **kwargs)` into `collect(f, *args, **kwargs)`, at the same place."""
    name = ast.copy_location(ast.Name(_COLLECT, ast.Load()), call.func)
    collecting = ast.Call(name, [call.func, *call.args], call.keywords)
    return ast.Expression(ast.copy_location(collecting, call))


def _flags(words: Iterable[str]) -> dict[str, str]:
    flags = {}
    for word in words:
        name, equals, value = word.strip("\"'").partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--flag {word}: write it as NAME=VALUE")
        flags[name.strip()] = value.strip("\"'")
    return flags


def _from_the_cell_on(error: BaseException) -> TracebackType | None:
    """Return the traceback without its first frames that are ours; None where no other is left."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_globals.get("__name__", "").startswith(_NOT_THE_USERS):
        tb = tb.tb_next
    return tb

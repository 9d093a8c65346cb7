"""An Explorer that was made from a function can be compiled again, by hand or by program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ipywidgets
import traitlets

from hlo_widgets.errors import NotCompilableError
from hlo_widgets.widgets.controls.panel import Controls
from hlo_widgets.widgets.controls.recompiler import Compiled
from hlo_widgets.widgets.shown import Shown

__all__ = ["Recompiling"]


class Recompiling(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types for its base
    """A column of widgets with controls on top, where it was made from a function.

    Whoever inherits from it has `_show_other` and `_go_to_name`, and calls `_tell_target` when
    something else is shown.

    Args:
        compiled: How what it shows was compiled; `None` where it shows a module alone.
        rows: What stands below the controls.
        **options: Of the column, as `ipywidgets.VBox` takes them.
    """

    target = traitlets.Unicode()
    """What the module was compiled for; "" where nobody knows.

    Setting it compiles the function for another target, as `recompile` does.

    - Type: `str`
    """

    def __init__(
        self, compiled: Compiled | None, rows: list[ipywidgets.Widget], **options: Any
    ) -> None:
        self._controls: Controls | None = None
        self._told_target = ""
        super().__init__(**options)
        if compiled is not None:
            self._controls = Controls(
                compiled, self._show_other, self._mark_stale, self._go_to_name
            )
            rows = [self._controls.view, *rows]
        self.children = rows

    def recompile(
        self,
        *args: Any,
        target: str | None = None,
        flags: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Compile the function in another way, wait, and show that in the place of this one.

        The controls above the graph follow. A change that is made in them compiles without waiting.

        Args:
            *args: Other positional arguments, all of them; none leaves them as they are.
            target: Another target.
            flags: Other compiler flags, in the place of all of before.
            **kwargs: Keyword arguments of the function to set; the others stay.

        Raises:
            NotCompilableError: This Explorer was not made from a function.
            CompileCancelledError: A change in the controls has overtaken it, or it was cancelled.
            Exception: As `compile_for`; what was shown stays, marked as stale.
        """
        controls = self._controls
        if controls is None:
            raise NotCompilableError(
                "this Explorer shows a module and has no function to compile again: make it with "
                "hw.explore(function, arguments, target=...)"
            )
        variant = controls.variant
        if args or kwargs:
            variant = variant.with_call(args, kwargs)
        if target is not None:
            variant = variant.with_target(target)
        if flags is not None:
            variant = variant.with_flags(flags)
        controls.compile_and_wait(variant)

    def close(self) -> None:
        """Call off what is being compiled for it, and take it off the page."""
        if self._controls is not None:
            self._controls.close()
        # Whatever is not closed is kept for as long as the kernel runs, and the module with it.
        inner = [*_inside(self)]
        super().close()
        for widget in inner:
            widget.close()
            # A widget whose files can change, such as that of the table, is never let go of.
            widget.unobserve_all()

    def _show_other(self, shown: Shown) -> None:
        raise NotImplementedError

    def _go_to_name(self, name: str) -> None:
        raise NotImplementedError

    def _mark_stale(self, is_stale: bool) -> None:
        (self.add_class if is_stale else self.remove_class)("hw-stale")

    def _tell_target(self, shown: Shown) -> None:
        """Let `target` name that of what is shown, which compiles nothing."""
        self._told_target = shown.target or ""
        self.target = self._told_target

    @traitlets.validate("target")
    def _compile_for_target(self, proposal: Mapping[str, Any]) -> str:
        if proposal["value"] != self._told_target:
            self.recompile(target=proposal["value"])
        return self._told_target


def _inside(widget: ipywidgets.Widget) -> Iterator[ipywidgets.Widget]:
    for child in getattr(widget, "children", ()):
        yield child
        yield from _inside(child)

"""What a panel says when its kernel is gone, and that it speaks of nothing else so."""

from __future__ import annotations

import pytest

import hlo_widgets as hw
from hlo_widgets.widgets.decisions.counts import summary_of
from hlo_widgets.widgets.decisions.view import DecisionBar
from hlo_widgets.widgets.plain import plain
from tests.analysis.dumps import decisions_of

pytestmark = pytest.mark.browser

GONE = "The kernel that made this is gone: run the cell again."
LOSE = (
    "() => { for (const way of ['send', 'save_changes']) window.model[way] = () => { throw 1; }; }"
)


@pytest.fixture
def mount(widget_page, tmp_path):
    """Put a widget on the page as anywidget does: its module and the values of its traits."""

    def put(widget, **state):
        (tmp_path / "widget.js").write_text(widget._esm, "utf-8")
        widget_page.folders["made"] = tmp_path
        widget_page.mount("made/widget.js", plain(state))
        widget.close()
        return widget_page.page

    return put


def test_it_is_said_once_however_often_somebody_clicks(mount):
    explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
    explorer.select("fusion.1")
    widget = explorer._details.widget
    page = mount(widget, detail=widget.detail)
    page.evaluate(LOSE)
    for _ in range(3):
        page.locator(".hw-link").first.click()
    assert page.get_by_text(GONE).count() == 1
    page.evaluate("() => { delete window.model.send; }")
    page.locator(".hw-link").first.click()
    assert page.get_by_text(GONE).count() == 0


def test_what_is_set_is_told_in_the_same_way(mount):
    log = decisions_of("mlp.h100")
    page = mount(DecisionBar(), summary=summary_of(log), chosen={}, told="")
    page.evaluate(LOSE)
    page.locator(".hw-reason").first.click()
    assert page.get_by_text(GONE).count() == 1


def test_an_error_of_ours_is_not_called_a_kernel_that_is_gone(mount, traffic):
    log = decisions_of("mlp.h100")
    page = mount(DecisionBar(), summary=summary_of(log), chosen={}, told="")
    page.evaluate("() => { window.model.set = () => { throw new Error('ours'); }; }")
    page.locator(".hw-reason").first.click()
    assert page.get_by_text(GONE).count() == 0
    assert "ours" in traffic.errors.pop()


def test_numbers_are_written_alike_in_every_language(widget_page, mount):
    page = mount(DecisionBar(), summary={})
    german = (
        "() => { const own = Number.prototype.toLocaleString;"
        " Number.prototype.toLocaleString = function (place, ...rest)"
        " { return own.call(this, place ?? 'de-DE', ...rest); }; }"
    )
    page.evaluate(german)
    assert page.evaluate("() => (1234).toLocaleString()") == "1.234"
    summary = {"headline": "x", "verdicts": [], "reasons": [["no", "no", 12345]], "left_out": 0}
    widget_page.assign("summary", summary | {"prices": [], "unit": "", "notes": []})
    assert "12,345" in page.locator(".hw-reason").inner_text()

"""The browser harness itself: what it says is so, and it can fail."""

from __future__ import annotations

import pytest

BUTTON = """
import ipywidgets
from IPython.display import display
clicks = ipywidgets.Label("0 clicks")
button = ipywidgets.Button(description="count")
button.on_click(lambda _: setattr(clicks, "value", "clicked"))
display(button, clicks)
"""
TABLE = """
import pandas
from itables.widget import ITable
display(ITable(pandas.DataFrame({"name": ["fusion", "copy"], "cycles": [5604, 120]})))
"""


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_widgets_of_a_live_kernel_show_and_answer(open_notebook, app):
    notebook = open_notebook([BUTTON, TABLE], app=app)
    notebook.run_all()
    notebook.page.get_by_role("button", name="count").click()
    notebook.page.get_by_text("clicked", exact=True).wait_for()
    notebook.output(1).locator("td", has_text="5604").wait_for()
    for theme in ("light", "dark"):
        notebook.set_theme(theme)
        assert notebook.screenshot(f"harness-{app}-{theme}").stat().st_size > 10_000


def test_a_cell_that_raises_is_reported_with_its_traceback(open_notebook):
    notebook = open_notebook(["1 / 0"])
    with pytest.raises(AssertionError, match="cell 0 raised ZeroDivisionError"):
        notebook.run_all()


def test_a_request_to_another_machine_is_noticed(widget_page, traffic):
    widget_page.page.evaluate("() => fetch('http://example.org/picture.png').catch(() => null)")
    assert traffic.foreign == ["http://example.org/picture.png"]
    traffic.foreign.clear()


def test_an_uncaught_exception_in_the_page_is_noticed(widget_page, traffic):
    with widget_page.page.expect_event("pageerror"):
        widget_page.page.evaluate("() => { setTimeout(() => { throw new Error('lost'); }); }")
    assert len(traffic.errors) == 1
    assert "lost" in traffic.errors[0]
    traffic.errors.clear()


COUNTER = """
export default {
  render({ model, el }) {
    const button = document.createElement("button");
    const show = () => { button.textContent = `count ${model.get("count")}`; };
    button.addEventListener("click", () => {
      model.set("count", model.get("count") + 1);
      model.save_changes();
      model.send({ clicked: true });
    });
    model.on("change:count", show);
    model.on("msg:custom", (content) => { button.title = content.title; });
    show();
    el.append(button);
    return () => { model.off("change:count", show); button.remove(); };
  },
};
"""


def test_a_widget_runs_on_a_page_without_jupyter(widget_page, tmp_path):
    (tmp_path / "counter.js").write_text(COUNTER)
    (tmp_path / "counter.css").write_text("button { color: rgb(1, 2, 3); }")
    widget_page.folders["made"] = tmp_path
    widget_page.mount("made/counter.js", {"count": 3}, styles="made/counter.css")
    button = widget_page.page.get_by_role("button")

    button.click()
    assert button.inner_text() == "count 4"
    assert widget_page.saved() == [{"count": 4}]
    assert widget_page.sent() == [{"clicked": True}]

    widget_page.assign("count", 9)
    assert button.inner_text() == "count 9"
    assert widget_page.value("count") == 9
    assert widget_page.saved() == [{"count": 4}]

    widget_page.receive({"title": "from the kernel"})
    assert button.get_attribute("title") == "from the kernel"
    assert button.evaluate("(el) => getComputedStyle(el).color") == "rgb(1, 2, 3)"

    widget_page.unmount()
    assert button.count() == 0

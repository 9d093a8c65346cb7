"""The controls above a graph, in a real JupyterLab, driven as a person would."""

from __future__ import annotations

import pytest

from tests.browser.controls_page import ControlsPage
from tests.browser.notebook_page import SELECT
from tests.compiler.support import needs_libtpu

SUM = """
import functools, os, signal, threading
import hlo_widgets as hw, jax, jax.numpy as jnp
from hlo_widgets.compiler import settings
from hlo_widgets.compiler.pool import workers

@functools.partial(jax.jit, static_argnames="power")
def total(x, scale, power=2):
    y = x * scale
    return jnp.sum(jnp.tanh(y) ** power)

explorer = hw.explore(total, hw.spec("f32[64,32]"), hw.spec("f32[32]"), power=3, target="cpu")
explorer
"""
SOFTMAX = """
import hlo_widgets as hw, jax, jax.numpy as jnp

def row_softmax(x):
    m = jnp.max(x, axis=-1, keepdims=True)
    e = jnp.exp(x - m)
    return e / jnp.sum(e, axis=-1, keepdims=True)

explorer = hw.explore(row_softmax, hw.spec("bf16[1024,512]"), target="v6e")
explorer
"""
LAYERS = """
import hlo_widgets as hw, jax, jax.numpy as jnp

def net(params, x):
    for layer in params["layers"]:
        x = jnp.tanh(x @ layer["w"] + layer["b"]) * layer["scale"]
    return x

def layer():
    return {"w": hw.spec("f32[64,64]"), "b": hw.spec("f32[64]"), "scale": hw.spec("f32[64]")}

params = {"layers": [layer() for _ in range(24)]}
explorer = hw.explore(net, params, hw.spec("f32[8,64]"), target="cpu")
explorer
"""
HOLD = 'os.kill(workers.process_id("cpu"), signal.SIGSTOP)'
LET_GO = 'os.kill(workers.process_id("cpu"), signal.SIGCONT)'


@pytest.fixture
def opened(open_notebook):
    def opened(cell):
        notebook = open_notebook([cell])
        notebook.run_all()
        return ControlsPage(notebook)

    return opened


@pytest.fixture
def total(opened):
    return opened(SUM)


def test_a_slider_previews_while_it_is_dragged_and_compiles_when_it_is_let_go(total):
    slider = total.slider("x", 0)
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    before = total.redraws()
    at = float(slider.input_value()) / float(slider.get_attribute("max"))
    total.page.mouse.move(box["x"] + 7 + at * (box["width"] - 14), middle)
    total.page.mouse.down()
    total.page.mouse.move(box["x"] + box["width"] - 2, middle, steps=5)
    field = total.argument("x").locator(".hw-entry")
    assert field.input_value() == "f32[1024,32]"
    assert total.controls.get_attribute("data-state") == "ready"
    assert total.redraws() == before
    total.page.mouse.up()
    total.wait_box("f32[1024,32]")
    assert total.python("explorer._controls.variant.arguments.call[0][0].shape") == "(1024, 32)"


def test_a_text_that_is_no_shape_says_so_beside_it_and_its_correction_compiles(total):
    total.write("x", "f32[128,32")
    wrong = total.argument("x").locator(".hw-wrong")
    wrong.wait_for()
    assert "Write it like" in wrong.inner_text()
    assert not total.is_stale()
    total.write("x", "f32[128,32]")
    total.wait_box("f32[128,32]")
    assert wrong.is_hidden()
    total.write("power", "import os")
    total.argument("power").locator(".hw-wrong").wait_for()
    total.write("power", "5")
    total.page.locator('.hw-tab:text-is("History 3")').wait_for()


def test_a_failed_compile_shows_the_users_line_and_keeps_the_last_picture_marked_stale(total):
    total.write("x", "f32[64,33]")
    total.wait_state("failed")
    assert (
        "Incompatible shapes" in total.failure.inner_text()
        or "broadcast" in total.failure.inner_text()
    )
    assert "y = x * scale" in total.failure.inner_text()
    assert "of the cell, in total" in total.failure.inner_text()
    assert total.is_stale()
    total.wait_box("f32[64,32]")
    total.write("scale", "f32[33]")
    total.wait_state("ready")
    total.wait_box("f32[64,33]")
    assert not total.is_stale()
    total.write("x", "f32[64,34]")
    total.wait_state("failed")
    total.button("Back to what is shown").click()
    total.wait_state("ready")
    assert total.argument("x").locator(".hw-entry").input_value() == "f32[64,33]"
    assert not total.is_stale()


def test_a_compile_is_called_off_by_its_button_and_the_next_one_works(total):
    total.python(HOLD)
    total.write("x", "f32[256,32]")
    total.controls.locator(".hw-phase", has_text="compiling for cpu").wait_for()
    total.controls.locator(".hw-clock", has_text="0.3 s").wait_for()
    total.button("Cancel").click()
    total.wait_state("off")
    assert total.is_stale()
    total.button("Compile again").click()
    total.wait_box("f32[256,32]")
    assert not total.is_stale()


def test_fifty_quick_changes_leave_one_compile_and_the_picture_of_the_last(total):
    total.python("settings.overtake_seconds = 1e6")
    total.python(HOLD)
    total.write("power", "4")
    slider = total.slider("x", 0)
    for _ in range(24):
        slider.press("ArrowLeft")
        slider.press("ArrowRight")
    slider.press("ArrowRight")
    last = total.argument("x").locator(".hw-entry").input_value()
    assert last == "f32[80,32]"
    total.controls.locator(".hw-phase", has_text="waiting for the compiler").wait_for()
    assert total.python('workers.is_busy("cpu"), workers.waiting("cpu")') == "(True, 1)"
    total.python(LET_GO)
    total.wait_box(last)
    total.wait_state("ready")
    assert [row[2] for row in total.history()] == [f"x = {last}, power = 4", "as it started"]
    names = "[t.name for t in threading.enumerate() if t.name == 'hlo_widgets compile']"
    assert total.python(names) == "[]"


def test_a_flag_is_found_set_changed_and_removed(total):
    total.open_panel("Flags")
    total.controls.locator(".hw-offer").first.wait_for()
    total.controls.get_by_label("Find a flag").fill("fast math infinites")
    offers = total.controls.locator(".hw-offer .hw-label")
    assert offers.all_text_contents() == ["xla_cpu_fast_math_honor_infs"]
    offers.first.click()
    flag = total.controls.locator('.hw-flag[data-flag="xla_cpu_fast_math_honor_infs"]')
    assert flag.locator("select").input_value() == "true"
    assert total.controls.get_attribute("data-state") == "ready"
    flag.locator("select").select_option("false")
    total.page.locator('.hw-tab:text-is("History 2")').wait_for()
    flags = total.python("explorer._shown.flags")
    assert flags == "{'xla_cpu_fast_math_honor_infs': False}"
    flag.get_by_role("button").click()
    total.page.locator('.hw-tab:text-is("Flags 0")').wait_for()
    total.wait_state("ready")
    assert total.python("explorer._shown.flags") == "{}"


@pytest.mark.slow
def test_a_row_made_before_the_list_gets_its_choice_and_help_with_it(total):
    name = "xla_cpu_fast_math_honor_infs"
    message = {"type": "flag", "name": name, "text": "1"}  # which is no truth value
    total.python(f"explorer._controls._on_message({message})")
    total.wait_state("failed")
    flag = total.controls.locator(f'.hw-flag[data-flag="{name}"]')
    assert flag.locator("select").count() == 0
    total.open_panel("Flags")
    flag.get_by_text("the compiler's own: true").wait_for()
    assert flag.locator("select").count() == 1
    assert "infinit" in flag.locator(".hw-label").get_attribute("title").lower()


@pytest.mark.slow
def test_a_list_that_comes_late_is_not_that_of_the_target_in_view(total):
    send = """
from hlo_widgets.widgets.plain import plain
view = explorer._controls.view
rows = [["xla_of_elsewhere", "1", "int", "Not of here."]]
view.send(plain({"type": "flags", "target": "v5e", "flags": rows}))
"""
    total.open_panel("Flags")
    total.controls.locator(".hw-offer").first.wait_for()
    total.python(send)
    total.python('explorer.recompile(hw.spec("f32[8,16]"), hw.spec("f32[16]"))')
    total.wait_box("f32[8,16]")
    note = total.controls.locator(".hw-flags .hw-panel-head .hw-dim")
    assert note.inner_text().endswith("flags of the compiler for cpu")
    total.controls.get_by_label("Find a flag").fill("elsewhere")
    assert total.controls.locator(".hw-offer").count() == 0


@pytest.mark.slow
def test_the_sliders_of_all_arguments_stand_below_each_other(total):
    for text in ("f32[64,32]", "f32[100000000,32]"):
        total.write("x", text)
        total.wait_box(text)
        lefts = [total.slider(label, 0).bounding_box()["x"] for label in ("x", "scale")]
        assert abs(lefts[0] - lefts[1]) < 0.01


@pytest.mark.slow
def test_what_cannot_be_drawn_is_said_to_be_compiled(total):
    total.python('os.environ["HLO_WIDGETS_DOT"] = "/nowhere/dot"')
    total.write("x", "f32[128,32]")
    total.wait_state("not drawn")
    assert total.phase.inner_text() == "compiled for cpu, but not drawn: the picture is stale"
    assert "/nowhere/dot" in total.failure.inner_text()
    assert total.is_stale()
    total.python('os.environ.pop("HLO_WIDGETS_DOT")')
    total.open_panel("History 2")
    total.button("Show number 2").click()
    total.wait_box("f32[128,32]")
    total.wait_state("ready")
    assert not total.is_stale()


@pytest.mark.slow
def test_a_result_of_elsewhere_is_told_in_the_controls(total):
    total.python('explorer.show_result(hw.compile_for(jnp.tanh, hw.spec("f32[77]"), target="cpu"))')
    total.wait_box("f32[77]")
    total.wait_state("other")
    assert "another result is shown: jit_tanh for cpu" in total.phase.inner_text()
    assert not total.is_stale()
    assert total.button("Back to what is shown").is_hidden()
    total.button("Compile again").click()
    total.wait_box("f32[64,32]")
    total.wait_state("ready")


def test_the_program_changes_what_the_controls_show(total):
    total.python('explorer.recompile(hw.spec("f32[8,16]"), hw.spec("f32[16]"), power=4)')
    assert total.argument("x").locator(".hw-entry").input_value() == "f32[8,16]"
    assert total.argument("power").locator(".hw-entry").input_value() == "4"
    assert total.history()[0][2] == "x = f32[8,16], scale = f32[16], power = 4"
    total.wait_box("f32[8,16]")


def test_closing_it_ends_its_compile_and_takes_it_off_the_page(total):
    total.python(HOLD)
    total.write("x", "f32[256,32]")
    total.controls.locator(".hw-phase", has_text="compiling for cpu").wait_for()
    total.python("explorer.close()")
    total.controls.wait_for(state="detached")
    wait = """
for thread in threading.enumerate():
    if thread.name == "hlo_widgets compile":
        thread.join(20)
[thread.name for thread in threading.enumerate() if thread.name == "hlo_widgets compile"]
"""
    assert total.python(wait) == "[]"
    assert total.python('workers.is_busy("cpu"), workers.waiting("cpu")') == "(False, 0)"


@pytest.mark.slow
def test_many_arguments_are_a_list_to_search_without_a_wall_of_sliders(opened):
    net = opened(LAYERS)
    assert net.controls.locator(".hw-arguments").is_hidden()
    net.open_panel("Arguments 73")
    assert net.controls.locator("input[type=range]").count() == 0
    assert net.controls.bounding_box()["height"] < 180
    net.controls.get_by_label("Find an argument").fill("[7] w")
    shown = net.controls.locator(".hw-argument:visible .hw-label").all_text_contents()
    assert shown == ["params['layers'][7]['w']"]
    net.argument("params['layers'][7]['w']").locator(".hw-opener").click()
    assert net.controls.locator("input[type=range]").count() == 2


@needs_libtpu
def test_another_target_is_compiled_and_an_earlier_one_is_shown_again_without_a_compile(opened):
    softmax = opened(SOFTMAX)
    softmax.open("fusion.1")
    softmax.controls.get_by_label("Target").select_option("v5e")
    words = "31,888 cycles (+55.1% from number 1)"
    softmax.controls.locator(".hw-phase", has_text=words).wait_for()
    assert softmax.row("fusion").get_by_text("13,544").count() == 1
    selected = softmax.graph.locator(".hw-frame.hw-selected")
    assert selected.get_attribute("data-name") == "fusion.1"
    assert softmax.python("explorer.target") == "'v5e'"
    assert softmax.history() == [["2", "v5e", ""], ["1", "v6e", "as it started"]]
    softmax.python("hw.compiler.shut_down()")
    softmax.button("Show number 1").click()
    softmax.controls.locator(".hw-phase", has_text="20,556 cycles").wait_for()
    softmax.row("fusion").get_by_text("8,740").wait_for()
    assert softmax.controls.get_by_label("Target").input_value() == "v6e"
    pid = "hw.compiler.pool.workers._slot('tpu').process.is_running"
    assert softmax.python(pid) == "False"
    chips = softmax.controls.get_by_label("Chips")
    chips.fill("nonsense")
    chips.press("Enter")
    softmax.controls.get_by_text("unknown target 'v6e:nonsense'").wait_for()
    chips.fill("")
    chips.press("Enter")
    softmax.page.wait_for_function("() => !document.querySelector('.hw-wrong:not([hidden])')")


@pytest.mark.slow
@needs_libtpu
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_controls_are_pictured_and_leave_the_graph_above_the_fold(opened, screenshots, theme):
    softmax = opened(SOFTMAX)
    softmax.notebook.set_theme(theme)
    for width in (900, 1400):
        softmax.page.set_viewport_size({"width": width, "height": 900})
        controls = softmax.controls.bounding_box()
        assert controls["height"] < 110
        softmax.page.screenshot(path=screenshots / f"controls-{theme}-{width}.png")


LOAD = "%load_ext hlo_widgets\nimport hlo_widgets as hw, jax.numpy as jnp, time"
CELL = """%%hlo_fusion --target cpu --name explorer
def slow(x):
    time.sleep(3)
    return jnp.tanh(x)
slow(hw.spec("f32[8]"))
"""


def test_the_magic_shows_how_far_it_is_and_a_second_run_closes_what_the_first_one_showed(
    open_notebook,
):
    notebook = open_notebook([LOAD, CELL])
    notebook.run_cell(0)
    notebook.page.evaluate(SELECT, 1)
    running = "() => { window.jupyterapp.commands.execute('notebook:run-cell'); }"
    notebook.page.evaluate(running)
    line = notebook.output(1).get_by_text("tracing for cpu… 1.", exact=False)
    line.wait_for()
    explorer = ControlsPage(notebook)
    assert notebook.output(1).get_by_text("for cpu…", exact=False).count() == 0
    # A name would keep it open.
    explorer.python("first = __import__('weakref').ref(explorer)")
    notebook.run_cell(1)
    assert explorer.python("first().comm is None, explorer.comm is None") == "(True, False)"
    explorer.python("kept = explorer")
    notebook.run_cell(1)
    assert explorer.python("kept.comm is None, explorer is kept") == "(False, False)"
    explorer.write("x", "f32[16]")
    explorer.wait_box("f32[16]")

"""Why it fused, why it did not: on the graph of programs that are compiled while the test waits."""

from __future__ import annotations

import importlib.util

import pytest

from tests.browser.explorer_page import ExplorerPage
from tests.compiler.support import needs_libtpu

PROGRAMS = """
import jax, jax.numpy as jnp
import hlo_widgets as hw

def row_softmax(x):
    m = jnp.max(x, axis=-1, keepdims=True)
    e = jnp.exp(x - m)
    return e / jnp.sum(e, axis=-1, keepdims=True)

def mlp(x, w1, w2, b):
    h = jax.nn.gelu(x @ w1 + b)
    y = h @ w2
    v = jnp.var(y, axis=-1, keepdims=True)
    return y * jax.lax.rsqrt(v + 1e-6), jnp.sum(h, axis=0)

shapes = ("bf16[1024,512]", "bf16[512,2048]", "bf16[2048,512]", "bf16[2048]")
arguments = {row_softmax: (hw.spec("bf16[1024,512]"),), mlp: tuple(map(hw.spec, shapes))}
"""
SHOW = """
result = hw.compile_for({name}, *arguments[{name}], target="{target}", explain=True)
explorer = hw.explore(result)
explorer
"""


RECORDED = """
import hlo_widgets as hw
from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict
lines = ["HloModule chain", "", "ENTRY %main (p: f32[4]) -> f32[4] {{"]
lines += ["  %op.0 = f32[4] parameter(0)"]
lines += [f"  %op.{{n}} = f32[4] negate(%op.{{n - 1}})" for n in range(1, 4)]
lines += ["  ROOT %op.4 = f32[4] negate(%op.3)", "}}", ""]
module = chr(10).join(lines)
bad = {bad!r}
pairs = [("op.1", "op.2"), ("op.2", "op.3"), (bad, bad)]
records = [
    FusionDecision(a, b, Verdict.REFUSED, bad, source=bad, pass_name=bad, consumers=(b,))
    for a, b in pairs
]
explorer = hw.explore(module, decisions=DecisionLog(tuple(records), notes=(bad,)))
explorer
"""
BAD = "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script> \\u0027 $x^2$ & </text>"
ALONE = """
import hlo_widgets as hw
explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
explorer
"""
OVERLAPS = """root => {
    const place = (el) => el.getBoundingClientRect();
    const words = [...root.querySelectorAll('.hw-words')];
    const boxes = [...root.querySelectorAll('.hw-box > rect')];
    const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
        && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    return words.flatMap((one, at) => [...words.slice(at + 1), ...boxes]
        .filter((other) => meets(place(one), place(other)))
        .map((other) => [one.textContent, other.parentElement.textContent]));
}"""


class DecisionsPage(ExplorerPage):
    """The Explorer, with what a person does to learn why."""

    def decide(self):
        before = self.redraws()
        self.graph.get_by_label("decisions").check()
        self.wait_redrawn(before)

    def verdict(self, tail, head):
        return self.graph.locator(f'.hw-verdict[data-tail="{tail}"][data-head="{head}"]')

    def click_words(self, tail, head):
        self.graph.locator(f'.hw-words[data-tail="{tail}"][data-head="{head}"]').click()

    def why(self, kind):
        """Wait for an explanation and return its text."""
        panel = self.detail().and_(self.page.locator(f'[data-why="{kind}"]'))
        panel.wait_for()
        return panel.inner_text()

    def no_why(self):
        self.page.locator('.hw-detail[data-why=""]').wait_for()

    def tab(self, name):
        self.page.get_by_role("tab", name=name).click()

    def note(self, words):
        self.graph.locator(".hw-note", has_text=words).wait_for()

    def told(self):
        """Return the pairs whose arrows carry a verdict."""
        pairs = "all => all.map(v => [v.dataset.tail, v.dataset.head])"
        return sorted(map(tuple, self.graph.locator(".hw-told").evaluate_all(pairs)))


@pytest.fixture
def explained(open_notebook):
    def explained(name, target):
        notebook = open_notebook([PROGRAMS + SHOW.format(name=name, target=target)])
        notebook.run_all()
        return DecisionsPage(notebook)

    return explained


@pytest.fixture
def shown(open_notebook):
    def shown(source):
        notebook = open_notebook([source])
        notebook.run_all()
        return DecisionsPage(notebook)

    return shown


@needs_libtpu
def test_the_mode_draws_verdicts_and_a_click_on_an_arrow_explains(explained):
    page = explained("row_softmax", "v6e")
    assert page.graph.locator(".hw-verdict, .hw-words").count() == 0
    assert page.graph.get_by_label("decisions").is_checked() is False
    page.decide()
    kernels = {"reduce_max.7", "fusion.1", "fusion"}
    between = [pair for pair in page.told() if set(pair) <= kernels]
    assert between == [
        ("fusion.1", "fusion"),
        ("reduce_max.7", "fusion"),
        ("reduce_max.7", "fusion.1"),
    ]
    assert page.verdict("copy-done", "fusion").get_attribute("class").strip() == "hw-verdict"
    assert page.graph.evaluate(OVERLAPS) == []
    page.graph.locator(".hw-legend", has_text="structural: the shape").wait_for()
    page.click_words("reduce_max.7", "fusion.1")
    text = page.why("structural")
    assert "every element that the first" in text
    # Whose each word is stands beside it in a word: of the answer, and of each piece of evidence.
    assert "inferred from the graph: the compiler did not say this" in text
    refusal = page.detail().locator(".hw-refusal")
    assert refusal.locator(".hw-mark").inner_text() == "compiler"
    assert "is too expensive to duplicate into 'fusion.1'" in refusal.inner_text()
    marks = page.detail().locator(".hw-evidence > li > .hw-mark").all_inner_texts()
    assert set(marks) == {"compiler", "inferred"}
    assert "ours MOF: multi-output fusion" in text.replace("\n", " ")
    # Places in the compiler's source are kept, folded.
    record = page.detail().locator(".hw-evidence .hw-verbatim").first
    assert record.locator("summary").inner_text() == "6 records, word for word"
    assert not record.locator(".hw-code").first.is_visible()
    record.locator("summary").click()
    assert "tpu_instruction_fusion.cc:" in record.locator(".hw-code").first.inner_text()
    assert record.locator(".hw-about").inner_text().startswith("TpuInstructionFusion; compiler.log")
    page.graph.locator('.hw-box.hw-asked[data-name="reduce_max.7"]').wait_for()
    assert page.graph.locator(".hw-verdict.hw-asked").count() == 1
    page.detail().locator(".hw-link", has_text="fusion.1").first.click()
    page.page.locator('.hw-detail[data-selected="fusion.1"]').wait_for()
    assert page.graph.locator(".hw-asked").count() == 0
    # Back in the plain mode nothing is left of it.
    before = page.redraws()
    page.graph.get_by_label("decisions").uncheck()
    page.wait_redrawn(before)
    assert page.graph.locator(".hw-verdict, .hw-words, .hw-sample").count() == 0


@needs_libtpu
def test_why_not_by_two_clicks_and_by_keys(explained):
    page = explained("row_softmax", "v6e")
    page.box("x.1").click()
    page.page.get_by_role("button", name="Why not fused with").click()
    page.note("x.1 not one kernel")
    page.page.keyboard.press("Escape")
    page.graph.locator(".hw-picking").wait_for(state="detached")
    assert page.detail().get_attribute("data-selected") == "x.1"
    page.page.get_by_role("button", name="Why not fused with").click()
    page.graph.locator(".hw-picking").wait_for()  # the kernel says which op it is
    redraws = page.redraws()
    page.box("fusion.1").click()
    assert "copy-start/copy-done" in page.why("blocked")
    assert page.redraws() == redraws  # a picked box is not opened
    page.page.keyboard.press("Escape")
    page.no_why()
    # The same by keys alone: to the button, back into the graph, down to the op, Enter.
    page.box("reduce_max.7").click()
    button = page.page.get_by_role("button", name="Why not fused with")
    button.focus()
    page.page.keyboard.press("Enter")
    page.note("reduce_max.7 not one kernel")
    page.page.wait_for_function("document.activeElement.dataset.name === 'reduce_max.7'")
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    assert "fusion" in page.why("structural")
    # And by Shift.
    page.box("x.1").click()
    page.page.locator('.hw-detail[data-selected="x.1"]').wait_for()
    page.box("fusion").click(modifiers=["Shift"])
    assert "copy-start/copy-done" in page.why("blocked")


@needs_libtpu
def test_verdicts_are_reached_and_opened_by_keys(explained):
    page = explained("mlp", "v6e")
    page.decide()
    assert page.graph.evaluate(OVERLAPS) == []
    page.graph.locator(".hw-verdict[tabindex='0']").focus()
    first = page.page.evaluate("document.activeElement.dataset.head")
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("ArrowRight")
    second = page.page.evaluate("document.activeElement.dataset.head")
    assert first != second
    assert page.graph.locator(".hw-verdict[tabindex='0']").count() == 1
    page.page.keyboard.press("Enter")
    page.page.locator(".hw-detail[data-why]:not([data-why=''])").wait_for()
    assert second in page.detail().inner_text()
    page.page.keyboard.press("Escape")
    page.no_why()
    assert len(page.notebook.cells()) == 1


@needs_libtpu
def test_counts_filter_and_rows_of_the_records(explained):
    page = explained("mlp", "v6e")
    page.decide()
    everything = page.told()
    page.tab("Decisions")
    bar = page.page.locator(".hw-decision-bar")
    bar.wait_for()
    refused = page.python("result.decisions.by_verdict['refused']")
    assert bar.locator("b").first.inner_text() == f"{refused} refused:"
    words = "No fusing: producer is tuple."
    count = page.python(f"result.decisions.by_reason[{words!r}]")
    bar.locator(".hw-terms summary").click()
    assert "MOF" in bar.locator(".hw-terms dt").all_inner_texts()
    reason = bar.get_by_role("button", name=f"{count} × {words}", exact=True)
    before = page.redraws()
    reason.click()
    page.wait_redrawn(before)
    assert reason.get_attribute("aria-pressed") == "true"
    assert bar.locator(".hw-example .hw-quote").inner_text() == words
    some = page.told()
    assert 0 < len(some) < len(everything)
    assert set(some) < set(everything)
    page.note(f"leaves {len(some)} of ")
    cells = page.page.locator(".jp-OutputArea table.dataTable:visible tbody tr")
    cells.first.wait_for()
    assert all("producer is tuple" in text for text in cells.all_inner_texts())
    cells.first.click()
    asked = page.graph.locator(".hw-verdict.hw-asked")
    asked.wait_for()
    assert "producer is tuple" in page.why("blocked")
    before = page.redraws()
    page.page.get_by_role("button", name="Show all").click()
    page.wait_redrawn(before)
    assert page.told() == everything
    assert not bar.locator(".hw-example").is_visible()


@needs_libtpu
def test_the_records_of_an_op_are_sentences_with_what_runs_earlier_names_now(explained):
    page = explained("row_softmax", "v6e")
    page.row("fusion").click()
    rows = page.detail().locator(".hw-decisions > li")
    rows.first.wait_for()
    texts = rows.all_inner_texts()
    assert texts[0].startswith("refused: reduce_max.7 into this op why?")
    old = rows.filter(has_text="refused: reduce (now in fusion.1) into div.6 (now in this op)")
    assert old.locator(".hw-quote").all_inner_texts() == [
        "No fusing: Should not fuse with elementwise"
    ]
    old.locator(".hw-now .hw-link").click()
    page.page.locator('.hw-detail[data-selected="fusion.1"]').wait_for()


def needs_cuda(test):
    found = importlib.util.find_spec("jax_cuda12_plugin") is not None
    return pytest.mark.skipif(not found, reason="jax_cuda12_plugin is not installed")(test)


@needs_cuda
def test_the_price_of_a_gpu_compiler_stands_on_the_arrow(explained):
    page = explained("mlp", "h100")
    page.decide()
    priced = page.graph.locator(".hw-words.hw-kind-unprofitable", has_text="us longer")
    assert priced.count() == 2
    assert page.graph.evaluate(OVERLAPS) == []
    page.verdict("loop_multiply_fusion", "input_reduce_fusion").focus()
    page.page.keyboard.press("Enter")
    text = page.why("unprofitable")
    for words in ("unfused − fused = −", "slower", "not queued", "us, fused", "now in"):
        assert words in text
    page.tab("Passes")
    passes = page.page.locator(".hw-passes")
    passes.locator("tr", has_text="priority-fusion").first.wait_for()
    # An earlier name has what runs it now beside it; where old and new lead to one op, once.
    made = passes.locator("tr", has_text="priority-fusion").first.inner_text()
    assert "fusion.10 (now in loop_multiply_fusion)" in made
    words = passes.locator("tr", has_text="rename_fusions").inner_text()
    assert "fusion.10 → loop_multiply_fusion" in words
    assert "now in" not in words
    assert "renamed: the same fusion under another name" in passes.inner_text()
    renamed = passes.locator("tr", has_text="rename_fusions").locator(".hw-link").last
    name = renamed.inner_text()
    renamed.click()
    page.page.locator(f'.hw-detail[data-selected="{name}"]').wait_for()
    decisions = page.detail().locator(".hw-decisions")
    assert "will execute slower if fused" in decisions.inner_text()
    decisions.locator(".hw-link", has_text="why?").first.click()
    page.why("unprofitable")
    page.tab("Decisions")
    least = page.page.get_by_label("Least difference of the costs in us")
    before = page.redraws()
    least.fill("100")
    least.press("Enter")
    page.wait_redrawn(before)
    assert {tail for tail, _ in page.told()} == {"loop_multiply_fusion"}


@pytest.mark.slow
@needs_cuda
def test_the_table_of_records_has_no_room_too_little(explained):
    page = explained("mlp", "h100")
    page.notebook.execute("application:toggle-left-area")
    page.tab("Decisions")
    table = page.page.locator(".jp-OutputArea table.hw-folds:visible")
    table.locator("tbody tr").first.wait_for()
    main = ["step", "producer", "consumer", "verdict", "reason", "gain"]
    folded = ["unfused", "fused", "unit", "joined", "source"]
    for width, columns in ((1600, main + folded), (900, main)):
        page.page.set_viewport_size({"width": width, "height": 1100})
        heads = table.locator("thead th:visible")
        page.page.wait_for_function(
            "([table, count]) => [...table.querySelectorAll('thead th')]"
            ".filter((th) => th.offsetWidth).length === count",
            arg=[table.element_handle(), len(columns)],
        )
        assert [text.strip() for text in heads.all_inner_texts()] == columns
        box = page.page.locator(".dt-layout-table:visible").last
        assert box.evaluate("el => el.scrollWidth - el.clientWidth") <= 1
        # Each column has its own width, whatever is folded away.
        sizes = heads.evaluate_all("all => all.map(th => th.offsetWidth)")
        assert sizes[columns.index("reason")] == max(sizes)
        assert sum(sizes) >= table.evaluate("el => el.clientWidth") - 2
        page.notebook.screenshot(f"records-{width}", box)
    row = table.locator("tbody tr", has_text="ranked").first
    told = row.locator("td", has_text="ranked").get_attribute("title")
    assert told.startswith("ranked\nunfused: ")
    assert "\nunit: us\njoined: exact: " in told
    assert "priority_fusion_dump.txt" in told


@pytest.mark.slow
def test_without_a_record_the_graph_alone_explains_and_says_so(shown):
    page = shown(ALONE)
    page.decide()
    page.note("compile with `explain=True`")
    assert page.told() == []
    page.verdict("reduce_max.7", "fusion.1").focus()
    page.page.keyboard.press("Enter")
    text = page.why("structural")
    assert "No record of the compiler is at hand" in text
    assert page.detail().locator(".hw-mark-compiler").count() == 0
    for tab in ("Decisions", "Passes"):
        page.tab(tab)
        panel = page.page.locator(".hw-decision-bar:visible, .hw-passes:visible")
        panel.filter(has_text="explain=True").wait_for()


def test_words_of_a_record_are_never_markup(shown):
    page = shown(RECORDED.format(bad=BAD))
    page.decide()
    page.graph.locator(".hw-words", has_text="<img src=x").first.wait_for()
    page.click_words("op.1", "op.2")
    assert BAD in page.why("blocked")
    page.detail().locator(".hw-link", has_text="op.1").first.click()
    page.detail().locator(".hw-decisions .hw-quote", has_text="<script>").first.wait_for()
    page.tab("Decisions")
    reason = page.page.locator(".hw-reason")
    assert BAD in reason.inner_text()
    page.page.locator(".hw-decision-bar .hw-about", has_text="<script>").first.wait_for()
    page.page.locator("table.dataTable td", has_text="<img").first.wait_for()
    # A record that is joined with nothing says so.
    lost = page.page.locator("table.dataTable tbody tr", has_text="not joined")
    lost.click()
    page.note("not joined with any op")
    assert page.page.evaluate("window.pwned") is None
    assert page.page.locator(".jp-OutputArea img[src=x]").count() == 0


@pytest.mark.slow
@needs_libtpu
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [900, 1400])
def test_pictures_of_both_themes_and_widths(explained, width, theme):
    page = explained("mlp", "v6e")
    page.notebook.set_theme(theme)
    page.notebook.execute("application:toggle-left-area")
    page.page.set_viewport_size({"width": width, "height": 1100})
    page.decide()
    page.verdict("fusion.8", "fusion.10").focus()
    page.page.keyboard.press("Enter")
    page.why("blocked")
    page.tab("Decisions")
    page.page.locator(".jp-OutputArea table.dataTable:visible tbody tr").first.wait_for()
    for part in (".jp-OutputArea-output", ".hw-detail", ".hw-decision-bar"):
        wide = page.page.locator(part).first.evaluate("el => el.scrollWidth - el.clientWidth")
        assert wide <= 1, part
    color = page.graph.locator(".hw-words.hw-kind-blocked text").first.evaluate(
        "el => getComputedStyle(el).fill"
    )
    assert color == {"light": "rgb(179, 38, 30)", "dark": "rgb(255, 138, 128)"}[theme]
    page.notebook.screenshot(f"decisions-mlp-{width}-{theme}")

"""The graph's front end on a page of its own: where it starts and goes, what it shows of work.

What the kernel would do is done here, by a real Explorer without a notebook.
"""

from __future__ import annotations

import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict
from hlo_widgets.widgets.picture.graph_view import GraphView
from tests.analysis.dumps import decisions_of, module_of
from tests.graph.modules import chain

STYLES = "html, body, #widget { height: 560px; margin: 0 } #widget { width: 820px }"
MATRIX = "el => { const m = el.querySelector('.hw-boxes').getScreenCTM(); return [m.a, m.e, m.f]; }"
# As a notebook does it: what is drawn comes to the page later.
RENDER_APART = """async ([url, state]) => {
  const module = await import(url);
  window.model = new window.StubModel(state);
  const el = Object.assign(document.createElement("div"), { id: "widget" });
  module.default.render({ model: window.model, el });
  document.body.append(el);
}"""
OVERFLOWING = """root => [...root.querySelectorAll('.hw-box')].flatMap((box) => {
  const frame = box.querySelector('rect').getBoundingClientRect();
  return [...box.querySelectorAll('text')].filter((text) => {
    const place = text.getBoundingClientRect();
    return place.left < frame.left - 1 || place.right > frame.right + 1;
  }).map((text) => text.textContent);
})"""


class GraphPage:
    """The graph of an Explorer on a page.

    Attributes:
        explorer: The Explorer, whose messages are handed over by `answer`.
        page: Playwright's page.
    """

    def __init__(self, widget_page, explorer):
        self.widget_page, self.explorer = widget_page, explorer
        self.page = widget_page.page
        self.root = self.page.locator(".hw-graph")
        self._heard = 0
        self._graph = explorer._picture.widget
        self._told = []
        self._graph.send = self._told.append

    def answer(self):
        """Let the kernel have what the page sent, and the page what comes of it."""
        sent = self.widget_page.sent()
        for message in sent[self._heard :]:
            self.explorer._picture.on_message(message)
        self._heard = len(sent)
        # Playwright's own loop is what the messages are handled in: it runs while the page does.
        while self.explorer._picture._changes.is_waiting:
            self.page.evaluate("() => new Promise(requestAnimationFrame)")
        self.widget_page.assign("picture", self._graph.picture)
        self.widget_page.assign("selected", self._graph.selected)
        for message in self._told:
            self.widget_page.receive(message)
        self._told.clear()

    def matrix(self):
        """Scale, and where the picture's corner is on the screen."""
        return self.root.evaluate(MATRIX)

    def box(self, node_id):
        return self.root.locator(f'[data-id="{node_id}"]')

    def choose(self, label):
        self.root.get_by_label(label).click()
        self.answer()

    def fit(self):
        self.root.get_by_role("button", name="Fit", exact=True).click()

    def drag(self, across, down):
        pane = self.page.locator(".hw-pane").bounding_box()
        x, y = pane["x"] + 12, pane["y"] + 12
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + across, y + down, steps=3)
        self.page.mouse.up()

    def nearest_to_middle(self):
        """Return the id and the place of the box that the user looks at."""
        pane = self.page.locator(".hw-pane").bounding_box()
        x, y = pane["x"] + pane["width"] / 2, pane["y"] + pane["height"] / 2
        ids = [box["id"] for box in self._graph.picture["boxes"]]
        places = {node_id: self.box(node_id).bounding_box() for node_id in ids}

        def distance(node_id):
            place = places[node_id]
            return (place["x"] + place["width"] / 2 - x) ** 2 + (place["y"] - y) ** 2

        nearest = min(places, key=distance)
        return nearest, places[nearest]

    def is_in_pane(self, node_id):
        """Whether a box lies in the pane wholly, and not below the map."""
        box, pane = (
            one.bounding_box() for one in (self.box(node_id), self.page.locator(".hw-pane"))
        )
        overview = self.page.locator(".hw-map")
        if overview.is_visible():
            covered = overview.bounding_box()
            if box["x"] + box["width"] > covered["x"] and box["y"] + box["height"] > covered["y"]:
                return False
        return (
            pane["x"] <= box["x"]
            and box["x"] + box["width"] <= pane["x"] + pane["width"]
            and pane["y"] <= box["y"]
            and box["y"] + box["height"] <= pane["y"] + pane["height"]
        )


@pytest.fixture
def graph_page(widget_page, tmp_path):
    """Show the graph of a module on a page."""
    (tmp_path / "graph.js").write_text(GraphView._esm)
    (tmp_path / "graph.css").write_text(str(GraphView._css) + STYLES)
    widget_page.folders["made"] = tmp_path
    explorers = []

    def show(module, **arguments):
        explorers.append(hw.explore(module, **arguments))
        page = GraphPage(widget_page, explorers[-1])
        state = {"picture": page._graph.picture, "selected": "", "asked": []}
        widget_page.mount("made/graph.js", state, styles="made/graph.css")
        page.root.locator(".hw-box").first.wait_for()
        return page

    yield show
    for explorer in explorers:
        explorer.close()


@pytest.fixture
def train_step(graph_page):
    return graph_page(module_of("train_step.v6e"), decisions=decisions_of("train_step.v6e"))


# Where a picture starts.


@pytest.mark.parametrize("name", ["mlp.v6e", "attention.v6e", "train_step.v6e", "train_step.h100"])
def test_a_large_picture_starts_on_its_costliest_kernel_and_what_is_around(graph_page, name):
    page = graph_page(module_of(name))
    picture = page.explorer._picture.widget.picture
    start = picture["start"]
    assert page.is_in_pane(start)
    assert page.matrix()[0] * 12 >= 11
    ends = [{arrow["tail"], arrow["head"]} for arrow in picture["arrows"]]
    joined = {end for pair in ends if start in pair for end in pair} - {start}
    assert sum(page.is_in_pane(node_id) for node_id in joined) >= min(len(joined), 2)


def test_a_small_picture_starts_whole(graph_page):
    page = graph_page(hw.captures.load("row_softmax", "v6e"))
    assert page.page.locator(".hw-map").is_hidden()
    for box in page.explorer._picture.widget.picture["boxes"]:
        assert page.is_in_pane(box["id"])


def test_labels_are_squeezed_into_their_boxes_also_when_the_page_gets_them_late(
    graph_page, widget_page
):
    page = graph_page(hw.captures.load("mlp", "v6e"))
    widget_page.unmount()
    widget_page.page.evaluate("() => document.querySelector('#widget').remove()")
    state = {"picture": page._graph.picture, "selected": "", "asked": []}
    widget_page.page.evaluate(RENDER_APART, ["http://localhost/made/graph.js", state])
    page.page.wait_for_function(f"() => ({OVERFLOWING})(document).length === 0")


# Where a picture goes.


def test_what_is_opened_from_far_away_is_gone_to(train_step):
    train_step.fit()
    assert train_step.matrix()[0] < 0.6
    train_step.box("fusion.25").click()
    train_step.answer()
    train_step.page.locator('.hw-frame[data-id="fusion.25"]').wait_for()
    assert train_step.matrix()[0] * 12 >= 11
    title = train_step.page.locator('.hw-frame[data-id="fusion.25"] text').first.bounding_box()
    pane = train_step.page.locator(".hw-pane").bounding_box()
    assert pane["y"] <= title["y"] <= pane["y"] + pane["height"]


def test_what_is_opened_where_it_reads_stays_in_its_place(train_step):
    node_id = train_step.explorer._picture.widget.picture["start"]
    before, scale = train_step.box(node_id).bounding_box(), train_step.matrix()[0]
    train_step.box(node_id).click()
    train_step.answer()
    frame = train_step.page.locator(f'.hw-frame[data-id="{node_id}"]')
    after = frame.bounding_box()
    assert train_step.matrix()[0] == scale
    assert abs(after["x"] + after["width"] / 2 - before["x"] - before["width"] / 2) < 3
    assert abs(after["y"] - before["y"]) < 3


def test_what_is_in_the_middle_stays_there_when_all_is_laid_out_anew(train_step):
    train_step.drag(30, 60)
    nearest, before = train_step.nearest_to_middle()
    train_step.choose("plumbing")
    now = train_step.box(nearest).bounding_box()
    assert abs(now["y"] - before["y"]) < 2
    assert abs(now["x"] + now["width"] / 2 - before["x"] - before["width"] / 2) < 2


def test_a_click_on_an_arrow_over_a_frame_is_one_on_the_frame(graph_page):
    page = graph_page(hw.captures.load("row_softmax", "v6e"), expanded=["fusion.1"])
    page.fit()
    frame = page.page.locator('.hw-frame[data-id="fusion.1"]')
    place = frame.bounding_box()
    # An arrow along the frame's title, as a layout may draw it.
    across, down = place["x"] + place["width"] / 2, place["y"] + 12
    page.root.evaluate(
        """(root, [x, y]) => {
            const line = root.querySelector('.hw-arrow path');
            const at = new DOMPoint(x, y).matrixTransform(line.getScreenCTM().inverse());
            line.setAttribute('d', `M${at.x - 20} ${at.y}H${at.x + 20}`);
        }""",
        [across, down],
    )
    page.page.mouse.click(across, down)
    sent = page.widget_page.sent()
    assert sent[-1] == {"type": "toggle", "id": "fusion.1", "open": False}


def test_what_was_clicked_in_vain_holds_no_later_picture(train_step):
    clicked = train_step._graph.picture["start"]
    train_step.box(clicked).click()
    train_step.widget_page.receive({"type": "ready"})  # it could not be opened
    train_step.drag(0, 300)
    nearest, before = train_step.nearest_to_middle()
    assert nearest != clicked
    train_step.explorer._picture.show(show_plumbing=True)
    train_step.widget_page.assign("picture", train_step._graph.picture)
    assert abs(train_step.box(nearest).bounding_box()["y"] - before["y"]) < 2


# The decisions mode of a large picture.


def test_decisions_move_nothing_in_a_large_picture(train_step):
    before = train_step.matrix()
    place = train_step.box("fusion.25").bounding_box()
    train_step.choose("decisions")
    train_step.page.locator(".hw-verdict").first.wait_for(state="attached")
    assert train_step.matrix() == before
    assert train_step.box("fusion.25").bounding_box() == place


def test_words_that_would_cover_a_box_are_shown_when_they_are_asked_for(train_step):
    train_step.choose("decisions")
    crowded = train_step.page.locator(".hw-crowded")
    assert crowded.count() > 0
    assert not any(one.is_visible() for one in crowded.all())
    tail, head = crowded.first.evaluate("el => [el.dataset.tail, el.dataset.head]")
    own = f'[data-tail="{tail}"][data-head="{head}"]'
    # Pointed at, and while an op at its end is selected: then the others step back.
    train_step.page.locator(f".hw-verdict{own}").dispatch_event("pointerover")
    assert train_step.page.locator(f".hw-words{own}").is_visible()
    train_step.page.locator(f".hw-verdict{own}").dispatch_event("pointerout")
    assert train_step.page.locator(f".hw-words{own}").is_hidden()
    train_step.widget_page.assign("selected", tail)
    assert train_step.page.locator(f".hw-words{own}").is_visible()
    assert "hw-chosen" in train_step.root.get_attribute("class")
    train_step.widget_page.assign("selected", "")
    assert "hw-chosen" not in train_step.root.get_attribute("class")


def test_from_far_away_names_and_kinds_are_seen_and_no_words(graph_page):
    pairs = [(f"op.{n}", f"op.{n + 1}") for n in range(39)]
    records = [FusionDecision(a, b, Verdict.REFUSED, "no", consumers=(b,)) for a, b in pairs]
    page = graph_page(chain(40), decisions=DecisionLog(tuple(records)))
    page.choose("decisions")
    assert page.page.locator(".hw-words:not(.hw-crowded)").first.is_visible()
    assert page.box("op.39").locator(".hw-far-name").is_hidden()
    page.fit()
    assert page.page.locator(".hw-pane").get_attribute("data-zoom") == "far"
    assert page.page.locator(".hw-words:not(.hw-crowded)").first.is_hidden()
    assert page.box("op.39").locator(".hw-far-name").is_visible()
    assert page.box("op.39").locator("text").first.is_hidden()
    width = page.page.locator(".hw-casing").first.evaluate(
        "el => getComputedStyle(el).vectorEffect"
    )
    assert width == "non-scaling-stroke"


def test_fit_shows_the_whole_of_a_very_long_picture(graph_page):
    page = graph_page(chain(190))
    page.fit()
    assert page.is_in_pane("op.0")
    assert page.is_in_pane("op.189")


# What is seen of work.


def test_a_click_is_answered_by_a_sign_and_can_be_taken_back(train_step):
    sign = train_step.page.locator(".hw-working")
    assert sign.is_hidden()
    train_step.root.get_by_label("decisions").click()
    sign.wait_for()
    assert train_step.widget_page.sent()[-1] == {
        "type": "option",
        "name": "show_decisions",
        "value": True,
    }
    train_step.widget_page.receive({"type": "working"})
    sign.get_by_role("button", name="Stop").click()
    assert train_step.widget_page.sent()[-1] == {"type": "stop"}
    train_step.widget_page.receive({"type": "ready"})
    sign.wait_for(state="hidden")
    # What was chosen has come to nothing, and the bar says so.
    assert not train_step.root.get_by_label("decisions").is_checked()


def test_a_program_that_waits_is_seen_too(train_step):
    train_step.widget_page.receive({"type": "working"})
    train_step.page.locator(".hw-working").wait_for()
    train_step.widget_page.receive({"type": "ready"})
    train_step.page.locator(".hw-working").wait_for(state="hidden")


def test_a_click_says_what_is_wanted_so_that_a_second_one_is_the_same(train_step):
    train_step.box("fusion.25").click()
    train_step.box("fusion.25").click()
    toggles = [m for m in train_step.widget_page.sent() if m["type"] == "toggle"]
    assert toggles == [{"type": "toggle", "id": "fusion.25", "open": True}] * 2


def test_another_module_of_which_nothing_was_there_before_starts_anew(graph_page):
    graph = graph_page(chain(40))
    for _ in range(12):
        graph.drag(0, 500)
    assert not any(graph.is_in_pane(box["id"]) for box in graph._graph.picture["boxes"])
    other = hw.explore(chain(40).replace("%op.", "%other."))
    picture = {**other._picture.widget.picture, "key": graph._graph.picture["key"]}
    graph.widget_page.assign("picture", picture)
    assert any(graph.is_in_pane(box["id"]) for box in picture["boxes"])
    other.close()

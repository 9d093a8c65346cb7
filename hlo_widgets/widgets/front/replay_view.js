// One step of a replay in words, and the queue at that moment. All text is set with textContent.
// Model traits read: moment, selected. Messages sent: {type: "name", name} of a kernel of the moment,
// {type: "step", number}.

const MOVES = { up: "\u25b2", down: "\u25bc", new: "new" };

function render({ model, el }) {
  const root = html("div", "hw-replay-words");
  root.dataset.lmSuppressShortcuts = "true";
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "The step in words, and the queue");
  el.append(root);

  const tell = teller(model, root);

  const nameButton = (name) =>
    makeButton("hw-link", name, "Show it in the picture, and what became of it above", () => tell({ type: "name", name }));

  function stepButton(number, at) {
    const made = makeButton("hw-link hw-step", String(number), `Go to step ${number}`, () => tell({ type: "step", number }));
    if (number === at) made.setAttribute("aria-current", "step");
    return made;
  }

  const part = ({ name, text }) => (name ? nameButton(name) : text);

  function facts(pairs) {
    const list = html("dl");
    for (const [term, value] of pairs) list.append(html("dt", "", term), html("dd", "", value));
    return pairs.length ? [list] : [];
  }

  function row({ rank, producer, priority, move, by, words, changed, taken }) {
    const arrow = html("td", `hw-move hw-move-${move || "same"}`, move ? `${MOVES[move]}${move !== "new" && by > 1 ? by : ""}` : "");
    arrow.title = words;
    const figure = html("td", `hw-figure${changed ? " hw-changed" : ""}`, priority);
    figure.title = words;
    const said = html("span", "hw-said", words);
    arrow.append(said);
    const line = html("tr", taken ? "hw-taken" : "", "", html("td", "hw-figure", String(rank)), html("td", "", "", nameButton(producer)), figure, arrow);
    line.dataset.producer = producer;
    if (taken) line.title = "Taken in this step";
    return line;
  }

  function queue({ queue: rows, queue_unit: unit, queue_note: note }) {
    const ranked = unit ? `The queue, highest priority (${unit}) first` : "The queue, highest priority first";
    const parts = [html("h4", "", rows.length ? ranked : "The queue")];
    if (rows.length) {
      const heads = [["#", "hw-figure"], ["producer", ""], ["priority", "hw-figure"], ["moved", "hw-move"]];
      const cells = heads.map(([text, className]) => Object.assign(html("th", className, text), { scope: "col" }));
      parts.push(html("table", "", "", html("thead", "", "", html("tr", "", "", ...cells)), html("tbody", "", "", ...rows.map(row))));
    }
    if (note) parts.push(html("p", "hw-about", note));
    return html("section", "hw-queue", "", ...parts);
  }

  function chosen({ name, words, steps, at, more, place, count }) {
    if (!name) return [];
    const links = steps.flatMap((number, place) => [place ? " " : "", stepButton(number, at)]);
    const lines = [html("div", "", "", html("b", "", name), ` ${words} ${more} `, ...links)];
    if (place) lines.push(html("div", "", `This is ${place}.`));
    if (count) lines.push(html("div", "hw-about", count));
    return [html("div", "hw-chosen", "", ...lines)];
  }

  function show() {
    root.dataset.theme = isDark(el) ? "dark" : "light";
    const moment = model.get("moment");
    if (!moment.title) return;
    const focused = root.contains(document.activeElement) ? document.activeElement.textContent : null;
    const sentences = moment.sentences.map((parts, at) => html("p", at ? "" : "hw-first", "", ...parts.map(part)));
    root.replaceChildren(
      html("h3", "", moment.title),
      ...sentences,
      ...facts(moment.facts),
      ...moment.terms.map(([word, meaning]) => html("p", "hw-about", "", "ours: ", html("b", "", word), `: ${meaning}`)),
      ...chosen(model.get("selected")),
      queue(moment),
      ...moment.notes.map((note) => html("p", "hw-about hw-remark", note)),
    );
    if (focused !== null) [...root.querySelectorAll("button")].find((button) => button.textContent === focused)?.focus({ preventScroll: true });
    root.dataset.shown = moment.title;
  }

  model.on("change:moment", show);
  model.on("change:selected", show);
  const stopTheme = watchTheme(() => (root.dataset.theme = isDark(el) ? "dark" : "light"));
  show();
  return () => {
    stopTheme();
    model.off("change:moment", show);
    model.off("change:selected", show);
  };
}

export default { render };

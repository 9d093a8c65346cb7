// The passes that changed a module, each with what it did to the fusions.
// Model traits read: passes, note. Messages sent: {type: "go", name} of a final op.

const EXPLAINED = {
  made: "new fusions",
  grown: "fusions that took in more",
  merged: "fusions that another one took in",
  renamed: "the same fusion under another name",
  dissolved: "fusions that are gone, neither merged nor renamed",
};

function render({ model, el }) {
  const root = html("div", "hw-passes");
  root.dataset.lmSuppressShortcuts = "true";
  el.append(root);

  const tell = teller(model, root);

  function name({ name: text, final, joined }) {
    if (!final) {
      const lost = html("span", "hw-lost", text);
      lost.title = "Not joined: this name leads to nothing in the final module";
      return lost;
    }
    const now = final === text ? "this op of the final module" : `now ${final}`;
    const link = makeButton("hw-link", text, `${now}; joined: ${joined}`, () => tell({ type: "go", name: final }));
    if (joined !== "exact") link.classList.add("hw-inexact");
    return link;
  }

  function group({ what, names, left_out }) {
    const list = names.flatMap((one, at) => [at ? ", " : "", ...one.flatMap((end, side) => [side ? " \u2192 " : "", name(end)])]);
    if (left_out) list.push(`, and ${number(left_out)} more`);
    const head = html("b", "", `${what} `);
    head.title = EXPLAINED[what] ?? "";
    return html("div", "", "", head, ...list);
  }

  function row({ number, pipeline, name: passName, words, groups }) {
    const cells = html("td", "", groups.length ? "" : words, ...groups.map(group));
    const place = html("td", "hw-number", String(number));
    const item = html("tr", groups.length ? "" : "hw-unchanged", "", place, html("td", "", pipeline), html("td", "hw-pass", passName), cells);
    item.dataset.number = String(number);
    return item;
  }

  function show() {
    root.dataset.theme = isDark(el) ? "dark" : "light";
    const passes = model.get("passes");
    const parts = [html("p", "hw-about", model.get("note"))];
    if (passes.length) {
      const only = html("input");
      only.type = "checkbox";
      const choose = () => root.classList.toggle("hw-only-fusions", only.checked);
      only.checked = passes.some(({ groups }) => groups.length); // most passes change no fusion
      only.addEventListener("change", choose);
      choose();
      parts.push(html("label", "", "", only, " only those that changed fusions"));
      const heads = ["#", "pipeline", "pass", "what changed in fusions"].map((text) => Object.assign(html("th", "", text), { scope: "col" }));
      parts.push(html("table", "", "", html("thead", "", "", html("tr", "", "", ...heads)), html("tbody", "", "", ...passes.map(row))));
    }
    root.replaceChildren(...parts);
  }

  model.on("change:passes", show);
  model.on("change:note", show);
  const stopTheme = watchTheme(() => (root.dataset.theme = isDark(el) ? "dark" : "light"));
  show();
  return () => {
    stopTheme();
    model.off("change:passes", show);
    model.off("change:note", show);
  };
}

export default { render };

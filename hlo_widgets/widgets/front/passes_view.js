// The passes that changed a module, each with what it did to the fusions.
// Model traits read: passes, note. Messages sent: {type: "go", name} of a final op.

const EXPLAINED = {
  made: "new fusions",
  grown: "fusions that took in more",
  merged: "fusions that another one took in",
  renamed: "the same fusion under another name",
  dissolved: "fusions that are gone, neither merged nor renamed",
};

/** What the words for changes mean that stand in the list. */
function meanings(passes) {
  const told = new Set(passes.flatMap(({ groups }) => groups.map(({ what }) => what)));
  const words = Object.entries(EXPLAINED).filter(([what]) => told.has(what)).map(([what, meaning]) => `${what}: ${meaning}`);
  return words.length ? [html("p", "hw-about hw-meanings", `${words.join("; ")}.`)] : [];
}

function render({ model, el }) {
  const root = html("div", "hw-passes");
  root.dataset.lmSuppressShortcuts = "true";
  el.append(root);

  const tell = teller(model, root);

  function linkTo(text, final, joined) {
    return makeButton("hw-link", text, `${final}, an op of the final module; joined: ${joined}`, () => tell({ type: "go", name: final }));
  }

  /** A name, a link where the final module has it; else with what runs it now beside it, unless `isTold` elsewhere. */
  function name({ name: text, final, joined }, isTold) {
    if (final === text) return [linkTo(text, final, joined)];
    const then = html("span", "hw-then", text);
    if (!final) return [then, html("span", "hw-now", " (not found in the final module)")];
    if (isTold) return [then];
    return [then, html("span", "hw-now", " (now in ", linkTo(final, final, joined), joined === "exact" ? ")" : `, joined ${joined}ly)`)];
  }

  /** Names of one change: where the old and the new one lead to the same op, it stands once. */
  function ends(names) {
    return names.flatMap((end, side) => [side ? " \u2192 " : "", ...name(end, names[side + 1]?.final === end.final)]);
  }

  function group({ what, names, left_out }) {
    const list = names.flatMap((one, at) => [at ? ", " : "", ...ends(one)]);
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
    const parts = [html("p", "hw-about", model.get("note")), ...meanings(passes)];
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

// The facts about the selected op. All text from the program is set with textContent.
// Model traits read: detail. Messages sent: {type: "go" | "pick", id}, {type: "why", ids}.

/** A JSON value as a tree that opens by a click; children are made when it is first opened. */
function tree(key, value) {
  if (value === null || typeof value !== "object") {
    const row = make("div", "hw-leaf", "", make("span", "hw-field", key === null ? "" : `${key}: `));
    row.append(make("span", "hw-value", value === null ? "null" : String(value)));
    return row;
  }
  const entries = Object.entries(value);
  if (!entries.length) return tree(key, Array.isArray(value) ? "[ ]" : "{ }");
  const branch = make("details", "hw-branch");
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  branch.append(make("summary", "", `${key ?? ""} ${count}`));
  branch.addEventListener("toggle", () => {
    if (branch.children.length === 1) branch.append(...entries.map(([name, inner]) => tree(name, inner)));
  });
  return branch;
}

function columnHead(text) {
  const cell = make("th", "", text);
  cell.scope = "col";
  return cell;
}

function render({ model, el }) {
  const root = make("div", "hw-detail");
  root.dataset.lmSuppressShortcuts = "true";
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "Details of the selected op");
  el.append(root);

  const button = (className, text, title, message) =>
    makeButton(root, className, text, title, () => model.send(message));

  function link({ id, name, about }) {
    const made = button("hw-link", name, about, { type: "go", id });
    made.dataset.id = id;
    return made;
  }

  const askWith = (id) => (other) =>
    button("hw-link", "why?", "Explain why the two are not one kernel", { type: "why", ids: [id, other] });

  function linkList(title, { shown, left_out }) {
    if (!shown.length) return section(`${title}: none`);
    const list = make("ul");
    for (const item of shown) list.append(make("li", "", "", link(item), make("span", "hw-about", ` ${item.about}`)));
    if (left_out) list.append(make("li", "hw-about", `and ${left_out.toLocaleString()} more`));
    return section(`${title} (${(shown.length + left_out).toLocaleString()})`, list);
  }

  function parameterTable(parameters) {
    const table = make("table");
    table.append(make("tr", "", "", ...["#", "parameter", "reads operand"].map(columnHead)));
    for (const { number, parameter, operand } of parameters) {
      const shape = make("div", "hw-about", parameter.about.replace(/^parameter /, ""));
      table.append(
        make("tr", "", "", make("td", "", String(number)), make("td", "", "", link(parameter), shape), make("td", "", "", link(operand))),
      );
    }
    return section("Parameters of the body", table);
  }

  function show() {
    const detail = model.get("detail");
    root.dataset.theme = isDark(el) ? "dark" : "light";
    root.dataset.selected = detail?.name ?? "";
    root.dataset.why = detail?.why?.kind ?? "";
    if (detail?.why) return replace(explanationParts(detail.why, link));
    if (!detail?.name) {
      const lines = detail?.summary ?? [];
      root.replaceChildren(...lines.map((line, n) => make(n ? "p" : "h3", "", line)));
      return;
    }
    const facts = make("dl");
    for (const [name, value] of detail.facts) facts.append(make("dt", "", name), make("dd", "", value));
    const heading = make("h3", "", detail.name);
    heading.tabIndex = -1;
    const ask = button("hw-act", "Why not fused with \u2026?", "Choose another op in the graph (or Shift+click it)", { type: "pick", id: detail.id });
    const parts = [heading, make("p", "hw-subtitle", detail.subtitle), ask, facts];
    if (detail.decisions?.shown.length) parts.push(decisionList(detail.decisions, link, askWith(detail.id)));
    if (detail.parameters.length) parts.push(parameterTable(detail.parameters));
    else parts.push(linkList("Operands", detail.operands));
    parts.push(linkList("Users", detail.users));
    if (detail.calls.length) parts.push(section("Calls", make("p", "hw-code", detail.calls.join(", "))));
    if (detail.backend_config !== null) {
      const config = tree("backend_config", detail.backend_config);
      config.open = true;
      parts.push(section("Backend config", config));
    }
    const source = make("details", "hw-branch", "", make("summary", "", "HLO text"), make("pre", "", detail.text));
    parts.push(source);
    replace(parts);
  }

  /** Show other parts, the heading first. */
  function replace(parts) {
    // Who followed a link by keyboard stays in the panel.
    const hadFocus = root.contains(document.activeElement);
    root.replaceChildren(...parts);
    root.scrollTop = 0;
    if (hadFocus) parts[0].focus();
  }

  model.on("change:detail", show);
  const stopTheme = watchTheme(() => (root.dataset.theme = isDark(el) ? "dark" : "light"));
  show();
  return () => {
    stopTheme();
    model.off("change:detail", show);
  };
}

export default { render };

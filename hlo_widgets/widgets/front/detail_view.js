// The facts about the selected op. All text from the program is set with textContent.
// Model traits read: detail. Messages sent: {type: "go" | "pick", id}, {type: "why", ids}.

/** A JSON value as a tree that opens by a click; children are made when it is first opened. */
function tree(key, value) {
  if (value === null || typeof value !== "object") {
    const row = html("div", "hw-leaf", "", html("span", "hw-field", key === null ? "" : `${key}: `));
    row.append(html("span", "hw-value", value === null ? "null" : String(value)));
    return row;
  }
  const entries = Object.entries(value);
  if (!entries.length) return tree(key, Array.isArray(value) ? "[ ]" : "{ }");
  const branch = html("details", "hw-branch");
  const count = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  branch.append(html("summary", "", `${key ?? ""} ${count}`));
  branch.addEventListener("toggle", () => {
    if (branch.children.length === 1) branch.append(...entries.map(([name, inner]) => tree(name, inner)));
  });
  return branch;
}

function columnHead(text) {
  const cell = html("th", "", text);
  cell.scope = "col";
  return cell;
}

function render({ model, el }) {
  const root = html("div", "hw-detail");
  root.dataset.lmSuppressShortcuts = "true";
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "Details of the selected op");
  el.append(root);

  const tell = teller(model, root);
  const button = (className, text, title, message) =>
    makeButton(className, text, title, () => tell(message));

  function link({ id, name, about }) {
    const made = button("hw-link", name, about, { type: "go", id });
    made.dataset.id = id;
    return made;
  }

  const askWith = (id) => (other) =>
    button("hw-link", "why?", "Explain why the two are not one kernel", { type: "why", ids: [id, other] });

  function linkList(title, { shown, left_out }) {
    if (!shown.length) return section(`${title}: none`);
    const list = html("ul");
    for (const item of shown) list.append(html("li", "", "", link(item), html("span", "hw-about", ` ${item.about}`)));
    if (left_out) list.append(html("li", "hw-about", `and ${number(left_out)} more`));
    return section(`${title} (${number(shown.length + left_out)})`, list);
  }

  function parameterTable(parameters) {
    const table = html("table");
    table.append(html("tr", "", "", ...["#", "parameter", "reads operand"].map(columnHead)));
    for (const { number, parameter, operand } of parameters) {
      const shape = html("div", "hw-about", parameter.about.replace(/^parameter /, ""));
      table.append(
        html("tr", "", "", html("td", "", String(number)), html("td", "", "", link(parameter), shape), html("td", "", "", link(operand))),
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
      root.replaceChildren(...lines.map((line, n) => html(n ? "p" : "h3", "", line)));
      return;
    }
    const facts = html("dl");
    for (const [name, value] of detail.facts) facts.append(html("dt", "", name), html("dd", "", value));
    const heading = html("h3", "", detail.name);
    heading.tabIndex = -1;
    const ask = button("hw-act", "Why not fused with \u2026?", "Choose another op in the graph (or Shift+click it)", { type: "pick", id: detail.id });
    const parts = [heading, html("p", "hw-subtitle", detail.subtitle), ask, facts];
    if (detail.decisions?.shown.length) parts.push(decisionList(detail.decisions, link, askWith(detail.id)));
    if (detail.parameters.length) parts.push(parameterTable(detail.parameters));
    else parts.push(linkList("Operands", detail.operands));
    parts.push(linkList("Users", detail.users));
    if (detail.calls.length) parts.push(section("Calls", html("p", "hw-code", detail.calls.join(", "))));
    if (detail.backend_config !== null) {
      const config = tree("backend_config", detail.backend_config);
      config.open = true;
      parts.push(section("Backend config", config));
    }
    const source = html("details", "hw-branch", "", html("summary", "", "HLO text"), html("pre", "", detail.text));
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

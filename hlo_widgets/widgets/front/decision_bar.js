// Counts of a compiler's records by verdict and reason, and the choice of which are shown.
// Model traits: summary and told (read), chosen (read and set): {verdict, reason, price, least}. A
// reason goes back as its place in the summary: its words are not always those of the record. Names of ops
// are taken out of its words, so that what differs in them alone is one reason.

const ALL = { verdict: "", reason: null, price: "", least: 0 };
const MANY_REASONS = 12; // more are folded away

function choice(label, options, value, onChange) {
  const select = html("select");
  select.setAttribute("aria-label", label);
  for (const [name, text] of options) select.append(new Option(text, name));
  select.value = value;
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

function render({ model, el }) {
  const root = html("div", "hw-decision-bar");
  root.dataset.lmSuppressShortcuts = "true";
  const told = html("span", "hw-told-count");
  told.setAttribute("role", "status");
  const parts = html("div");
  let example = html("p");
  root.append(parts);
  el.append(root);

  const tell = teller(model, root);
  const chosen = () => ({ ...ALL, ...model.get("chosen") });

  function choose(change) {
    model.set("chosen", { ...chosen(), ...change });
    tell(null);
  }

  function reasonButton([, short, count, example], place) {
    const text = `${number(count)} \u00d7 ${short || "no words given"}`;
    const button = makeButton("hw-reason", text, example, () =>
      choose({ reason: chosen().reason === place ? null : place }),
    );
    button.dataset.place = String(place);
    return button;
  }

  function reasons({ headline, reasons, left_out }) {
    const all = reasons.map(reasonButton);
    const line = html("div", "hw-reasons", "", html("b", "", `${headline}${all.length ? ":" : "."}`), ...all.slice(0, MANY_REASONS));
    if (all.length <= MANY_REASONS) return [line];
    const more = html("details", "", "", html("summary", "", `${number(all.length - MANY_REASONS + left_out)} more reasons`));
    more.append(html("div", "hw-reasons", "", ...all.slice(MANY_REASONS)));
    if (left_out) more.append(html("p", "", `and ${number(left_out)} that are not listed`));
    return [line, more];
  }

  /** What the words of the counts mean, in ours; folded, whoever knows them needs none of it. */
  function meanings({ terms = [] }) {
    if (!terms.length) return [];
    const list = html("dl");
    for (const [word, meaning] of terms) list.append(html("dt", "", word), html("dd", "", meaning));
    return [html("details", "hw-terms", "", html("summary", "", "What these words mean, in our words: the compiler explains none"), list)];
  }

  function filters({ verdicts, prices, unit }) {
    const now = chosen();
    const kinds = [["", "any verdict"], ...verdicts.map(([name, count]) => [name, `${name} (${number(count)})`])];
    const least = html("input");
    Object.assign(least, { type: "number", min: "0", step: "any", value: now.least || "" });
    least.setAttribute("aria-label", `Least difference of the costs in ${unit || "the compiler's unit"}`);
    const take = () => choose({ least: Number(least.value) || 0 });
    least.addEventListener("change", take);
    least.addEventListener("keydown", (event) => {
      if (event.key === "Enter") take();
      event.stopPropagation();
    });
    const clear = makeButton("hw-act hw-clear", "Show all", "Take the filter away", () => choose(ALL));
    const cost = [choice("Filter by cost", prices, now.price, (price) => choose({ price }))];
    if (unit) cost.push(html("label", "", "by at least ", least, ` ${unit}`));
    return html("div", "hw-filters", "", choice("Filter by verdict", kinds, now.verdict, (verdict) => choose({ verdict })), ...cost, clear, told);
  }

  function show() {
    const summary = model.get("summary");
    root.dataset.theme = isDark(el) ? "dark" : "light";
    const notes = (summary.notes ?? []).map((note) => html("p", "hw-about", note));
    example = html("p", "hw-about hw-example");
    const counted = summary.headline ? [...reasons(summary), filters(summary), example, ...meanings(summary)] : [];
    parts.replaceChildren(...counted, ...notes);
    mark();
  }

  function mark() {
    const now = chosen();
    const reason = now.reason === null ? undefined : model.get("summary").reasons?.[now.reason];
    example.hidden = !reason?.[3];
    if (reason) example.replaceChildren("The first of them, in the compiler's words: ", html("span", "hw-quote", reason[3]));
    for (const button of root.querySelectorAll(".hw-reason")) {
      button.setAttribute("aria-pressed", String(button.dataset.place === String(now.reason)));
    }
    const [verdict, price] = root.querySelectorAll("select");
    if (verdict) verdict.value = now.verdict;
    if (price) price.value = now.price;
    const least = root.querySelector("input");
    if (least && document.activeElement !== least) least.value = now.least || "";
    const clear = root.querySelector(".hw-clear");
    if (clear) clear.disabled = Object.keys(ALL).every((key) => now[key] === ALL[key]);
    told.textContent = model.get("told");
  }

  const changes = { "change:summary": show, "change:chosen": mark, "change:told": mark };
  for (const [event, action] of Object.entries(changes)) model.on(event, action);
  const stopTheme = watchTheme(() => (root.dataset.theme = isDark(el) ? "dark" : "light"));
  show();
  return () => {
    stopTheme();
    for (const [event, action] of Object.entries(changes)) model.off(event, action);
  };
}

export default { render };

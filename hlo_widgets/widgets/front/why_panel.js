// Why two ops are not one kernel, and what is on record about one op: parts of the detail panel.
//
// Whose words something is stands beside it as a word of its own, not by its looks alone.

const MARKS = {
  compiler: "The compiler's own words, verbatim",
  inferred: "What follows from the graph: not the compiler's words",
  ours: "Our words for what the compiler's mean",
  "not known": "Neither the graph nor the record says",
};

function markChip(mark) {
  const chip = html("span", `hw-mark hw-mark-${mark.replaceAll(" ", "-")}`, mark);
  chip.title = MARKS[mark] ?? "";
  return chip;
}

/** Links with something between them. */
function linked(links, between, link) {
  return links.flatMap((one, number) => [number ? between : "", one.id ? link(one) : html("span", "", one.name)]);
}

/** The parts of a sentence: a name is a link where it leads anywhere, and has what runs it now beside it. */
function sentence(parts, link) {
  return parts.flatMap((part) => {
    const name = part.id ? link({ ...part, name: part.text }) : html("span", "now" in part ? "hw-then" : "", part.text);
    if (part.now?.length) return [name, html("span", "hw-now", " (now in ", ...linked(part.now, ", ", link), part.how ? `, ${part.how})` : ")")];
    return part.how ? [name, html("span", "hw-now", ` (${part.how})`)] : [name];
  });
}

/** What terms of the compiler mean, in our words. */
function explained(terms) {
  return terms.map(([word, meaning]) => html("div", "hw-ours", "", markChip("ours"), " ", html("b", "", word), `: ${meaning}`));
}

/** The words of records that say the same: quotes first, what we say of them, and all of it as it was written folded away. */
function quoted({ quotes, price, names, terms, verbatim, source, joined, times }, link) {
  const block = html("div", "hw-quoted");
  for (const words of quotes) block.append(html("div", "hw-quote", words));
  if (price) block.append(html("div", "hw-price", price));
  if (!quotes.length && !price && verbatim.length) {
    block.append(html("div", "hw-about", "", markChip("not known"), " no words, only places in the compiler's source"));
  }
  for (const part of names) block.append(html("div", "hw-ours", "", markChip("ours"), " ", ...sentence([part], link)));
  block.append(...explained(terms));
  const kept = html("details", "hw-verbatim");
  const count = times > 1 ? `${number(times)} records` : "1 record";
  kept.append(html("summary", "", `${count}, word for word${joined ? `; joined: ${joined}` : ""}`));
  for (const words of verbatim) kept.append(html("div", "hw-code", words));
  kept.append(html("div", "hw-about", source));
  block.append(kept);
  return block;
}

function evidenceList(evidence, link) {
  const list = html("ul", "hw-evidence");
  for (const item of evidence) {
    const row = html("li", "", "", markChip(item.mark), " ");
    if (item.sentence) row.append(...sentence(item.sentence, link), quoted(item, link));
    else row.append(item.text);
    if (item.links.length) row.append(html("div", "hw-about", "", ...linked(item.links, ", ", link)));
    list.append(row);
  }
  return list;
}

/** Whose the answer is, in words, with what the compiler said against an inferred one, and what its terms mean. */
function whose({ mark, kind, refusal, terms }) {
  const lines = [];
  const words = { compiler: "from the compiler's record", inferred: "from the graph: the compiler did not say this" }[mark];
  if (words && kind !== "fused already") lines.push(html("p", "hw-about hw-whose", "", markChip(mark), ` ${words}`));
  if (refusal.length) {
    const quotes = refusal.map((part) => html("div", "hw-quote", part));
    lines.push(html("div", "hw-refusal", "", markChip("compiler"), " It refused the two, too:", ...quotes));
  }
  return [...lines, ...explained(terms)];
}

/** The explanation of two ops. @returns {HTMLElement[]}, the heading first */
function explanationParts(why, link) {
  const heading = html("h3", "", "Why not one kernel?");
  if (why.kind === "fused already") heading.textContent = "One kernel";
  heading.tabIndex = -1;
  const ops = html("p", "hw-subtitle", "", ...linked(why.ops, " and ", link));
  const asked = new Set(why.ops.map((op) => op.name));
  if (why.kernels.some((op) => !asked.has(op.name))) {
    ops.append(why.kernels.length > 1 ? ", which run in " : ", which runs in ", ...linked(why.kernels, " and ", link));
  }
  const kind = html("span", "hw-kind", why.kind);
  kind.dataset.kind = why.kind;
  const parts = [heading, ops, ...why.notes.map((note) => html("p", "hw-about", note))];
  parts.push(html("p", "hw-headline", "", kind, " ", why.headline), ...whose(why));
  if (why.note) parts.push(html("p", "hw-about hw-no-record", why.note));
  if (why.facts.length) {
    const facts = html("dl");
    for (const [name, value] of why.facts) facts.append(html("dt", "", name), html("dd", "", value));
    parts.push(facts);
  }
  if (why.connection.length) parts.push(section("Shortest connection", html("p", "", "", ...linked(why.connection, " \u2192 ", link))));
  if (why.blockers.length) parts.push(section("What stands between or cannot be fused", html("p", "", "", ...linked(why.blockers, ", ", link))));
  if (why.evidence.length) parts.push(section("Evidence", evidenceList(why.evidence, link)));
  return parts;
}

/** What is on record about the selected op; `ask` makes the button that explains it with another. */
function decisionList({ shown, left_out }, link, ask) {
  const list = html("ul", "hw-decisions");
  for (const row of shown) {
    const item = html("li", "", "", html("b", "", row.verdict), ": ", ...sentence(row.sentence, link));
    if (row.ask && row.verdict !== "fused") item.append(" ", ask(row.ask));
    item.append(quoted(row, link));
    list.append(item);
  }
  if (left_out) list.append(html("li", "hw-about", `and ${number(left_out)} more, in the tab Decisions`));
  const key = html("p", "hw-about", "", html("span", "hw-quote", "set like this"), " are the compiler's words; the rest is ours.");
  return section(`Decisions (${number(shown.length + left_out)})`, key, list);
}

// Why two ops are not one kernel, and what is on record about one op: parts of the detail panel.

const MARKS = {
  compiler: "The compiler's own words",
  inferred: "What follows from the graph",
};

function markChip(mark) {
  const chip = make("span", `hw-mark hw-mark-${mark}`, mark);
  chip.title = MARKS[mark] ?? "";
  return chip;
}

/** Links with something between them. */
function linked(links, between, link) {
  return links.flatMap((one, number) => [number ? between : "", one.id ? link(one) : make("span", "", one.name)]);
}

function evidenceList(evidence, link) {
  const list = make("ul", "hw-evidence");
  for (const { mark, text, source, links } of evidence) {
    const words = make("span", mark === "compiler" ? "hw-quote" : "", text);
    const item = make("li", "", "", markChip(mark), " ", words);
    const about = make("div", "hw-about", source, ...(links.length && source ? [" \u00b7 "] : []), ...linked(links, ", ", link));
    if (source || links.length) item.append(about);
    list.append(item);
  }
  return list;
}

/** The explanation of two ops. @returns {HTMLElement[]}, the heading first */
function explanationParts(why, link) {
  const heading = make("h3", "", "Why not one kernel?");
  if (why.kind === "fused already") heading.textContent = "One kernel";
  heading.tabIndex = -1;
  const ops = make("p", "hw-subtitle", "", ...linked(why.ops, " and ", link));
  const asked = why.ops.map((op) => op.name).join();
  if (why.kernels.map((op) => op.name).join() !== asked) {
    ops.append(why.kernels.length > 1 ? ", which run in " : ", which runs in ", ...linked(why.kernels, " and ", link));
  }
  const kind = make("span", "hw-kind", why.kind);
  kind.dataset.kind = why.kind;
  const parts = [heading, ops, make("p", "hw-headline", "", kind, " ", why.headline)];
  if (why.note) parts.push(make("p", "hw-about hw-no-record", why.note));
  if (why.facts.length) {
    const facts = make("dl");
    for (const [name, value] of why.facts) facts.append(make("dt", "", name), make("dd", "", value));
    parts.push(facts);
  }
  if (why.connection.length) parts.push(section("Shortest connection", make("p", "", "", ...linked(why.connection, " \u2192 ", link))));
  if (why.blockers.length) parts.push(section("What stands between or cannot be fused", make("p", "", "", ...linked(why.blockers, ", ", link))));
  if (why.evidence.length) parts.push(section("Evidence", evidenceList(why.evidence, link)));
  return parts;
}

/** What is on record about the selected op; `ask` makes the button that explains it with another. */
function decisionList({ shown, left_out }, link, ask) {
  const list = make("ul", "hw-decisions");
  for (const { verdict, role, other, links, words, price, joined, times, ask: otherId } of shown) {
    const item = make("li", "", "", make("b", "", verdict), ` ${role} `);
    if (links.some((one) => one.name === other)) item.append(...linked(links, ", ", link));
    else {
      item.append(other);
      if (links.length) item.append(", now ", ...linked(links, ", ", link));
    }
    if (words) item.append(": ", make("span", "hw-quote", words));
    const about = [price, times > 1 ? `${times.toLocaleString()} times` : "", joined === "exact" ? "" : `joined: ${joined}`];
    const told = about.filter(Boolean).join("; ");
    if (told) item.append(make("div", "hw-about", told));
    if (otherId && verdict !== "fused") item.append(" ", ask(otherId));
    list.append(item);
  }
  if (left_out) list.append(make("li", "hw-about", `and ${left_out.toLocaleString()} more, in the tab Decisions`));
  return section(`Decisions (${(shown.length + left_out).toLocaleString()})`, list);
}

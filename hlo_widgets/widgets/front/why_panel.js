// Why two ops are not one kernel, and what is on record about one op: parts of the detail panel.

const MARKS = {
  compiler: "The compiler's own words",
  inferred: "What follows from the graph",
};

function markChip(mark) {
  const chip = html("span", `hw-mark hw-mark-${mark}`, mark);
  chip.title = MARKS[mark] ?? "";
  return chip;
}

/** Links with something between them. */
function linked(links, between, link) {
  return links.flatMap((one, number) => [number ? between : "", one.id ? link(one) : html("span", "", one.name)]);
}

function evidenceList(evidence, link) {
  const list = html("ul", "hw-evidence");
  for (const { mark, text, source, links } of evidence) {
    const words = html("span", mark === "compiler" ? "hw-quote" : "", text);
    const item = html("li", "", "", markChip(mark), " ", words);
    const about = html("div", "hw-about", source, ...(links.length && source ? [" \u00b7 "] : []), ...linked(links, ", ", link));
    if (source || links.length) item.append(about);
    list.append(item);
  }
  return list;
}

/** The explanation of two ops. @returns {HTMLElement[]}, the heading first */
function explanationParts(why, link) {
  const heading = html("h3", "", "Why not one kernel?");
  if (why.kind === "fused already") heading.textContent = "One kernel";
  heading.tabIndex = -1;
  const ops = html("p", "hw-subtitle", "", ...linked(why.ops, " and ", link));
  const asked = why.ops.map((op) => op.name).join();
  if (why.kernels.map((op) => op.name).join() !== asked) {
    ops.append(why.kernels.length > 1 ? ", which run in " : ", which runs in ", ...linked(why.kernels, " and ", link));
  }
  const kind = html("span", "hw-kind", why.kind);
  kind.dataset.kind = why.kind;
  const parts = [heading, ops, html("p", "hw-headline", "", kind, " ", why.headline)];
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
  for (const { verdict, role, other, links, words, price, joined, times, ask: otherId } of shown) {
    const item = html("li", "", "", html("b", "", verdict), ` ${role} `);
    if (links.some((one) => one.name === other)) item.append(...linked(links, ", ", link));
    else {
      item.append(other);
      if (links.length) item.append(", now ", ...linked(links, ", ", link));
    }
    if (words) item.append(": ", html("span", "hw-quote", words));
    const about = [price, times > 1 ? `${number(times)} times` : "", joined === "exact" ? "" : `joined: ${joined}`];
    const told = about.filter(Boolean).join("; ");
    if (told) item.append(html("div", "hw-about", told));
    if (otherId && verdict !== "fused") item.append(" ", ask(otherId));
    list.append(item);
  }
  if (left_out) list.append(html("li", "hw-about", `and ${number(left_out)} more, in the tab Decisions`));
  return section(`Decisions (${number(shown.length + left_out)})`, list);
}

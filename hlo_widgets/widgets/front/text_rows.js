// Lines of HLO as elements. All text from the program is set with textContent.

const LINE_PX = 18;

// Strings, names, shapes, what comes before a parenthesis, and words that stand out.
const PIECES =
  /("(?:[^"\\]|\\.)*"?)|(%[\w.-]+)|(\b[a-z][a-z0-9]*\[[^\]]*\](?:\{[^{}]*\})?)|\b([a-z][a-z0-9-]*)(?=\()|\b(ENTRY|ROOT|HloModule)\b/g;
const CLASSES = [null, "hw-t-string", "hw-t-name", "hw-t-shape", "hw-t-opcode", "hw-t-word"];
const COLOURED = 600; // characters of a line that are coloured: the rest is far to the right

/** The text of a line in spans, one for each piece that has a colour. */
function pieces(text) {
  const made = [];
  const head = text.slice(0, COLOURED);
  let end = 0;
  for (const found of head.matchAll(PIECES)) {
    const kind = found.findIndex((part, n) => n > 0 && part !== undefined);
    if (found.index > end) made.push(head.slice(end, found.index));
    made.push(html("span", CLASSES[kind], found[0]));
    end = found.index + found[0].length;
  }
  made.push(text.slice(end));
  return made;
}

/** One line: its number and its text; `line` is undefined while the kernel has not sent it. */
function rowOf(number, line, id) {
  const gutter = html("span", "hw-t-number", String(number));
  gutter.setAttribute("aria-hidden", "true");
  const row = html("div", "hw-t-row", "", gutter);
  row.id = id;
  row.style.top = `${(number - 1) * LINE_PX}px`;
  row.dataset.line = String(number);
  row.setAttribute("role", "option");
  row.append(...(line ? pieces(line[0]) : ["\u2026"]));
  if (!line) row.dataset.waits = "";
  if (line?.[1]) row.dataset.op = "";
  return row;
}

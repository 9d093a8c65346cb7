// What was compiled before; a click shows it again.

const NONE = "–";
// Each with what it says when it is pointed at; the program has the words of the cells.
const COLUMNS = [
  ["#", ""], ["target", ""], ["what changed", "than in the row below"],
  ["total cycles", "estimated by the compiler, of one run of the module"],
  ["change", "of the total, from the row below; only where all rows of both are known"],
  ["most VMEM of a kernel", "scoped VMEM that one kernel takes; kernels that run after each other take the same"],
  ["seconds", "from the start of tracing to the compiler's answer"], ["", ""],
];

class HistoryPanel {
  constructor(send) {
    this.send = send;
    this.body = html("tbody");
    const heads = COLUMNS.map(([textContent, title]) => html("th", "", { textContent, title, scope: "col" }));
    const table = html("table", "hw-runs", {}, html("thead", "", {}, html("tr", "", {}, ...heads)), this.body);
    this.element = html("div", "hw-history", {}, table);
  }

  show({ rows = [], shown }) {
    this.body.replaceChildren(...rows.map((row) => this.#row(row, row.number === shown)));
  }

  #row(row, isShown) {
    const changes = row.changes.join(", ");
    const cells = [
      [row.number, ""], [row.target, ""], [changes, changes], [row.cycles || NONE, row.cycles_title],
      [row.change, row.change_title], [row.vmem || NONE, row.vmem_title], [row.seconds, ""],
    ].map(([textContent, title]) => html("td", "", { textContent, title }));
    const button = html("button", "", { type: "button", textContent: isShown ? "shown" : "show", disabled: isShown });
    button.setAttribute("aria-label", `Show number ${row.number}`);
    const line = html("tr", isShown ? "hw-shown" : "", {}, ...cells, html("td", "", {}, button));
    line.dataset.number = row.number;
    line.addEventListener("click", () => {
      if (!isShown) this.send({ type: "show", number: row.number });
    });
    return line;
  }
}

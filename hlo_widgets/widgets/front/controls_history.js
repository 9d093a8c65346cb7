// What was compiled before; a click shows it again.

const count = (value) => (value === null ? "–" : Number(value).toLocaleString("en-US"));
const COLUMNS = ["#", "target", "what changed", "total cycles", "change", "VMEM bytes", "seconds", ""];

class HistoryPanel {
  constructor(send) {
    this.send = send;
    this.body = element("tbody");
    const heads = COLUMNS.map((text) => element("th", "", { textContent: text, scope: "col" }));
    const table = element("table", "hw-runs", {}, element("thead", "", {}, element("tr", "", {}, ...heads)), this.body);
    this.element = element("div", "hw-history", {}, table);
  }

  show({ rows = [], shown }) {
    this.body.replaceChildren(...rows.map((row) => this.#row(row, row.number === shown)));
  }

  #row(row, isShown) {
    const changes = row.changes.join(", ");
    const cells = [
      row.number, row.target, changes, count(row.cycles), row.change, count(row.vmem),
      row.seconds,
    ].map((text) => element("td", "", { textContent: text }));
    cells[2].title = changes;
    cells[3].title = row.cycles === null ? "The compiler gives no figures." : `${row.source}; the change is from the row below`;
    const button = element("button", "", { type: "button", textContent: isShown ? "shown" : "show", disabled: isShown });
    button.setAttribute("aria-label", `Show number ${row.number}`);
    const line = element("tr", isShown ? "hw-shown" : "", {}, ...cells, element("td", "", {}, button));
    line.dataset.number = row.number;
    line.addEventListener("click", () => {
      if (!isShown) this.send({ type: "show", number: row.number });
    });
    return line;
  }
}

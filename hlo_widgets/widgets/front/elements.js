// Elements of the panels that are no picture. All text is set with textContent.

function section(title, ...children) {
  return html("section", "", "", html("h4", "", title), ...children);
}

function makeButton(className, text, title, action) {
  const button = html("button", className, { type: "button", title, textContent: text });
  button.addEventListener("click", action);
  return button;
}

/** Return what tells the kernel, as `tellKernel`; where that is gone, one line at the top of a panel says so. */
function teller(model, root) {
  const line = html("p", "hw-gone", { role: "status" });
  return (message) => {
    const say = (text) => {
      line.textContent = text;
      root.prepend(line);
    };
    if (tellKernel(model, message, say)) line.remove();
  };
}

// Elements of the panels that are no picture. All text is set with textContent.

const KERNEL_GONE = "The kernel that made this is gone: run the cell again.";

/** Make an element with a class, text and children. @returns {HTMLElement} */
function make(tag, className = "", text = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.textContent = text;
  element.append(...children);
  return element;
}

function section(title, ...children) {
  return make("section", "", "", make("h4", "", title), ...children);
}

/** A button; where the kernel is gone, it is said at the top of the panel. */
function makeButton(root, className, text, title, action) {
  const button = make("button", className, text);
  button.type = "button";
  button.title = title;
  button.addEventListener("click", () => {
    try {
      action();
    } catch {
      root.prepend(make("p", "", KERNEL_GONE));
    }
  });
  return button;
}

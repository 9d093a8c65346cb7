// What all widgets share: elements, numbers, the way to the kernel, and the page around them.
//
// Everything that comes from an HLO file is set with textContent, or as an attribute or property of
// elements made here; no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";
const KERNEL_GONE = "The kernel that made this is gone: run the cell again.";

/** Make an HTML element with a class, a text or properties, and children. @returns {HTMLElement} */
function html(tag, className = "", content = "", ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (typeof content === "object" && content !== null) {
    for (const [name, value] of Object.entries(content)) {
      if (name in element) element[name] = value;
      else element.setAttribute(name, value);
    }
  } else {
    element.textContent = content;
  }
  element.append(...children);
  return element;
}

/** Make an SVG element with attributes and children. @returns {SVGElement} */
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Write a number as everything here writes it, in whatever language the browser is. */
function number(value) {
  return Number(value).toLocaleString("en-US");
}

/**
 * Send the kernel a message, or with null what was set. Of a kernel that is gone the page throws: then `say` is called
 * with what to tell the user.
 * @returns {boolean} whether it is on its way
 */
function tellKernel(model, message, say) {
  try {
    if (message === null) model.save_changes();
    else model.send(message);
  } catch {
    say(KERNEL_GONE);
    return false;
  }
  return true;
}

/** Whether the page around is dark: JupyterLab says so, elsewhere the background's brightness does. */
function isDark(el) {
  const lab = document.body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false";
  for (let node = el; node; node = node.parentElement) {
    const parts = getComputedStyle(node).backgroundColor.match(/[\d.]+/g)?.map(Number);
    if (parts && (parts.length < 4 || parts[3] > 0)) {
      return 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2] < 128;
    }
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Call back when the page's theme changes. @returns {() => void} stops it */
function watchTheme(action) {
  const watch = new MutationObserver(action);
  watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
  return () => watch.disconnect();
}

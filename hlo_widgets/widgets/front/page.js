// What both widgets know about the page around them.

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

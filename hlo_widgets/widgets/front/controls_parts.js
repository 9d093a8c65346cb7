// What the parts of the controls share. All text from the program is set with textContent.

/** Set a property only where it changes, so that a caret or an open list stays. */
function update(target, name, value) {
  if (target[name] !== value) target[name] = value;
}

/** Call back with a field's text when it was changed and Enter is pressed or the field is left. */
function onEdited(field, action) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") field.blur();
    if (event.key === "Escape") {
      field.value = field.dataset.known ?? "";
      field.blur();
    }
  });
  field.addEventListener("change", () => action(field.value));
}

/** Show the kernel's text in a field, unless the user is writing there or has to correct it. */
function fill(field, text, problem) {
  field.dataset.known = text;
  if (problem) return;
  if (document.activeElement !== field || field.tagName !== "INPUT") update(field, "value", text);
}

/** A line below a field that says what is wrong with it. */
function problemLine() {
  return html("div", "hw-wrong", { hidden: true });
}

function showProblem(line, text) {
  update(line, "textContent", text ?? "");
  update(line, "hidden", !text);
}

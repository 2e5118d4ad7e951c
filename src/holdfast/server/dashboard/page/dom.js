// Elements from values. Text only ever becomes text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `class`, `on: {event: listener}`, properties by name; false and null leave out. */
export function el(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

export function sv(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(made, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  add(made, children);
  return made;
}

function add(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(parent, child);
    else parent.append(child instanceof Node ? child : String(child));
  }
}

/** Draw again, and leave the reader where they were: focus, selection, what was unfolded. */
export function replaced(root, children) {
  const active = document.activeElement;
  const key = root.contains(active) ? active.dataset.key : undefined;
  const selection = key && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  const open = new Set([...root.querySelectorAll("details[open][data-key]")].map((one) => one.dataset.key));
  const scroll = [window.scrollX, window.scrollY];
  root.replaceChildren();
  add(root, children);
  for (const one of root.querySelectorAll("details[data-key]"))
    if (open.has(one.dataset.key)) one.open = true;
  window.scrollTo(...scroll);
  if (key === undefined) return;
  const again = [...root.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (selection && selection[0] !== null) again.setSelectionRange(...selection);
}

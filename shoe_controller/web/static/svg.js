// Elements, made by hand: text only ever enters the page as text.

const SVG = "http://www.w3.org/2000/svg";

function grow(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(name, attributes = {}, ...children) {
  return grow(document.createElementNS(SVG, name), attributes, children);
}

export function html(name, attributes = {}, ...children) {
  return grow(document.createElement(name), attributes, children);
}

export const byId = (id) => document.getElementById(id);

// Whether something does not fit its place. Heights are those of lines and boxes: some fonts claim more than they draw.
function tooLong(element) {
  const place = element.getBoundingClientRect();
  const leaves = ({ top, bottom }) => top < place.top - 1 || bottom > place.bottom + 1;
  return element.scrollWidth > element.clientWidth + 1 ||
    [...element.children].some((child) => leaves(child.getBoundingClientRect()));
}

// Text that is too long for its place becomes smaller, down to a third, instead of being cut off.
export function fit(element) {
  let scale = 1;
  element.style.setProperty("--fit", scale);
  while (scale > 0.35 && tooLong(element)) {
    scale -= 0.05;
    element.style.setProperty("--fit", scale.toFixed(2));
  }
}

export function fitAll(root = document) {
  for (const element of root.querySelectorAll(".fit")) fit(element);
}

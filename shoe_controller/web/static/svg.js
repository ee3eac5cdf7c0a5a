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

// Text that is too long for its place becomes smaller, down to a third, instead of being cut off. Some fonts are
// taller than their lines: a fifth of an em over the edge is nothing that anybody could see.
export function fit(element) {
  const style = getComputedStyle(element);
  const tooLong = () =>
    element.scrollWidth > element.clientWidth + 1 ||
    element.scrollHeight > element.clientHeight + 1 + parseFloat(style.fontSize) / 5;
  let scale = 1;
  element.style.setProperty("--fit", scale);
  while (scale > 0.35 && tooLong()) {
    scale -= 0.05;
    element.style.setProperty("--fit", scale.toFixed(2));
  }
}

export function fitAll(root = document) {
  for (const element of root.querySelectorAll(".fit")) fit(element);
}

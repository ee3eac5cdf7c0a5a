// The shapes on the cards: four suits, five elements, and the characters of the elements and the three stars.
// Everything is drawn in a square of 100 by 100, so that no font is needed for it.

import { svg } from "./svg.js";

const path = (d, more = {}) => svg("path", { d, ...more });
const circle = (cx, cy, r, more = {}) => svg("circle", { cx, cy, r, ...more });

export const COLOURS = {
  c: "#12161f",
  s: "#12161f",
  d: "#c4122f",
  h: "#c4122f",
  f: "#d2320f",
  g: "#b07a00",
  e: "#7d4f24",
  w: "#14803a",
  a: "#1261c4",
};

const SHAPES = {
  h: () => [path("M50 94C18 66 5 50 5 30 5 14 17 5 30 5c10 0 17 6 20 16C53 11 60 5 70 5c13 0 25 9 25 25 0 20-13 36-45 64Z")],
  d: () => [path("M50 2c11 20 24 35 38 48-14 13-27 28-38 48C39 78 26 63 12 50 26 37 39 22 50 2Z")],
  s: () => [path("M50 3c12 22 43 36 43 59 0 14-10 21-20 21-9 0-16-5-19-13 1 14 6 22 13 28H33c7-6 12-14 13-28-3 8-10 13-19 13C17 83 7 76 7 62 7 39 38 25 50 3Z")],
  c: () => [
    circle(50, 25, 22),
    circle(26, 59, 22),
    circle(74, 59, 22),
    path("M50 36 60 56 53 60c1 18 6 30 14 38H33c8-8 13-20 14-38l-7-4Z"),
    circle(50, 50, 12),
  ],
  f: (light) => [
    path("M53 2c-3 20 9 28 17 40 4-6 5-12 3-20 12 12 19 27 19 42 0 22-18 35-42 35S8 86 8 64c0-18 11-29 20-41 3 8 4 14 10 19C37 24 40 12 53 2Z"),
    path("M51 52c4 11 19 16 19 30 0 10-9 15-20 15s-20-5-20-15c0-9 7-13 10-20 3 4 4 7 7 8 0-7 1-12 4-18Z", { fill: light }),
  ],
  g: (light) => [
    path("M4 40c8 6 16 9 23 9 1-19 12-29 23-29s22 10 23 29c7 0 15-3 23-9 2 26-10 44-27 44H31C14 84 2 66 4 40Z"),
    path("M27 51c12 9 34 9 46 0", { fill: "none", stroke: light, "stroke-width": 6, "stroke-linecap": "round" }),
    path("M40 33c5-5 15-5 20 0", { fill: "none", stroke: light, "stroke-width": 5, "stroke-linecap": "round" }),
  ],
  e: (light) => [
    path("M2 88 32 34q4-6 8 0l9 16 16-32q4-7 8 0l25 70Z"),
    path("M61 40 68 26l8 20-8-5Z", { fill: light }),
    path("M31 50 36 43l6 12-6-3Z", { fill: light }),
    path("M16 76h68", { stroke: light, "stroke-width": 5, "stroke-linecap": "round" }),
  ],
  w: (light) => [
    path("M50 2c30 16 42 34 42 52 0 20-16 30-36 31v13H44V85C24 84 8 74 8 54 8 36 20 18 50 2Z"),
    path("M50 26v64M50 46 32 34M50 46l18-12M50 66 28 52M50 66l22-14", {
      fill: "none", stroke: light, "stroke-width": 5, "stroke-linecap": "round",
    }),
  ],
  a: () => [
    ...[24, 51, 78].map((y) =>
      path(`M7 ${y}c10-13 18-13 28.6 0s18.6 13 28.6 0 18.6-13 28.6 0`, {
        fill: "none", stroke: "currentColor", "stroke-width": 13, "stroke-linecap": "round",
      })),
  ],
};

// A suit or element in its colour, `size` wide, its middle at (x, y).
export function suitShape(suit, x, y, size, light = "#fffdf8") {
  const scale = size / 100;
  const group = svg("g", {
    transform: `translate(${x - size / 2} ${y - size / 2}) scale(${scale})`,
    fill: COLOURS[suit],
    color: COLOURS[suit],
  });
  group.append(...SHAPES[suit](light));
  return group;
}

// Strokes of the characters, as with a broad pen.
const RADICAL = "M20 7 28 16M6 28H36Q28 46 4 62M22 48V95M27 52 37 62";
const STROKES = {
  f: "M20 34Q24 46 30 54M80 32Q76 42 68 52M50 8V42Q48 72 12 94M51 44Q58 74 90 94",
  g: "M50 6Q34 30 8 44M50 6Q66 30 92 44M30 46H70M18 64H82M50 46V90M30 72 37 84M70 72 63 84M8 92H92",
  e: "M22 40H78M50 12V90M8 90H92",
  w: "M8 34H92M50 6V95M49 36Q40 62 8 80M51 36Q60 62 92 80",
  a: "M50 6V88Q50 95 36 89M10 36H38Q34 66 8 82M84 24Q74 36 60 44M53 38Q62 66 92 84",
  S: "M20 16H80M24 32H76M6 48H94M46 4Q44 58 8 94M34 66H90M68 54V86Q68 95 54 91M44 76 53 84",
  L: `${RADICAL}M48 10H86V40M50 25H84M42 41H95M66 41V86Q66 94 55 91M48 53 57 61M42 86 60 70M88 52 75 63M73 68 95 88`,
  F: `${RADICAL}M44 9H95M52 23H87V44H52ZM48 56H91V94H48ZM70 56V94M48 75H91`,
};

export function character(name, x, y, size, colour, width = 8) {
  return svg("path", {
    d: STROKES[name],
    transform: `translate(${x - size / 2} ${y - size / 2}) scale(${size / 100})`,
    fill: "none",
    stroke: colour,
    "stroke-width": width,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  });
}

// Card faces and backs, 100 by 140, made to be read from across the table: a large rank, a large suit.

import { svg } from "./svg.js";
import { COLOURS, character, headDress, suitShape } from "./shapes.js";

const STARS = { S: "SAU", L: "LUK", F: "FUK" };
const ELEMENTS = "fgewa";

const sheet = (fill, stroke) =>
  svg("rect", { x: 0.75, y: 0.75, width: 98.5, height: 138.5, rx: 8, fill, stroke, "stroke-width": 1.5 });

function rankText(rank, colour) {
  const shown = rank === "T" ? "10" : rank;
  return svg(
    "text",
    {
      x: 8, y: 49, class: "rank", fill: colour,
      textLength: shown === "10" ? 46 : null,
      lengthAdjust: shown === "10" ? "spacingAndGlyphs" : null,
    },
    shown,
  );
}

// One of the three stars: its character in a round frame, its name below.
function star(rank, suit, colour) {
  return [
    svg("circle", { cx: 61, cy: 87, r: 34, fill: "#fdf3d3", stroke: "#c9971c", "stroke-width": 2.5 }),
    svg("circle", { cx: 61, cy: 87, r: 30, fill: "none", stroke: "#c9971c", "stroke-width": 1 }),
    character(rank, 61, 87, 39, colour, 9),
    svg("text", { x: 61, y: 135, class: "star-name", fill: colour }, STARS[rank]),
  ];
}

function figure(rank, suit, colour) {
  if (rank in STARS) return star(rank, suit, colour);
  if ("JQK".includes(rank)) {
    return [headDress(rank, suit, 65, 79, 44), suitShape(suit, 65, 117, 34)];
  }
  return [suitShape(suit, 65, 101, 58)];
}

export function cardFace(code) {
  const [rank, suit] = code;
  const colour = COLOURS[suit];
  const index = ELEMENTS.includes(suit)
    ? (rank in STARS ? suitShape(suit, 77, 30, 30) : character(suit, 21, 67, 24, colour, 11))
    : suitShape(suit, 21, 67, 24);
  return svg(
    "svg",
    { viewBox: "0 0 100 140", class: "card face", role: "img", "data-card": code },
    sheet("#fffdf8", "#c9c4b4"),
    rankText(rank, colour),
    index,
    ...figure(rank, suit, colour),
  );
}

const LATTICE = Array.from({ length: 17 }, (_, i) => `M${i * 14 - 112} 0l140 140M${i * 14 - 28} 0l-140 140`).join("");

export function cardBack() {
  const inner = svg("svg", { x: 8, y: 8, width: 84, height: 124, viewBox: "8 8 84 124" });
  inner.append(svg("path", { d: LATTICE, stroke: "#5c7bc4", "stroke-width": 1.6, fill: "none" }));
  return svg(
    "svg",
    { viewBox: "0 0 100 140", class: "card back", role: "img", "data-card": "" },
    sheet("#f4f1e6", "#c9c4b4"),
    svg("rect", { x: 7, y: 7, width: 86, height: 126, rx: 5, fill: "#17317a" }),
    inner,
    svg("rect", { x: 7, y: 7, width: 86, height: 126, rx: 5, fill: "none", stroke: "#d8b65a", "stroke-width": 1.6 }),
    svg("path", { d: "M50 44 70 70 50 96 30 70Z", fill: "#17317a", stroke: "#d8b65a", "stroke-width": 2 }),
    svg("path", { d: "M50 55 61 70 50 85 39 70Z", fill: "#d8b65a" }),
  );
}

export const card = (code) => (code ? cardFace(code) : cardBack());

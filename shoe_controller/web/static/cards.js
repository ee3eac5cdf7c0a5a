// Card faces and backs, 100 by 140: a large index to be read from across the table, and beside it the pips that
// players of this game look for, a court figure, or one of the three stars.

import { svg } from "./svg.js";
import { COLOURS, character, suitShape } from "./shapes.js";
import { courtFigure } from "./courts.js";

const STARS = { S: "SAU", L: "LUK", F: "FUK" };
const ELEMENTS = "fgewa";
const FACE = "#fffdf8";

// Where pips stand: columns left, middle and right; heights from 0 on top to 1.
const [LEFT, MIDDLE, RIGHT] = [54.5, 68.5, 82.5];
const [TOP, HEIGHT] = [23, 94];
const sides = (...heights) => heights.flatMap((y) => [[LEFT, y], [RIGHT, y]]);
const middle = (...heights) => heights.map((y) => [MIDDLE, y]);
const PIPS = {
  A: middle(0.5),
  2: middle(0, 1),
  3: middle(0, 0.5, 1),
  4: sides(0, 1),
  5: [...sides(0, 1), ...middle(0.5)],
  6: sides(0, 0.5, 1),
  7: [...sides(0, 0.5, 1), ...middle(0.25)],
  8: [...sides(0, 0.5, 1), ...middle(0.25, 0.75)],
  9: [...sides(0, 1 / 3, 2 / 3, 1), ...middle(0.5)],
  T: [...sides(0, 1 / 3, 2 / 3, 1), ...middle(1 / 6, 5 / 6)],
};
const pipSize = (count) => (count === 1 ? 44 : count < 4 ? 27 : count < 9 ? 21 : 18.5);

const sheet = (fill, stroke) =>
  svg("rect", { x: 0.75, y: 0.75, width: 98.5, height: 138.5, rx: 8, fill, stroke, "stroke-width": 1.5 });

function rankText(rank, colour) {
  // Widths are set here, so that no font makes a rank run into the pips.
  const textLength = { A: 34, T: 36, Q: 34, K: 34 }[rank] ?? (rank in PIPS ? 31 : null);
  const lengthAdjust = textLength && "spacingAndGlyphs";
  return svg("text", { x: 5, y: 48, class: "rank", fill: colour, textLength, lengthAdjust }, rank === "T" ? "10" : rank);
}

// Keeps the index apart from the pips: nobody should have to count which belong to which.
const frame = (fill, stroke) =>
  svg("rect", { x: 42.5, y: 8.5, width: 52, height: 123, rx: 4, fill, stroke, "stroke-width": 1.2 });

// A suit's lower pips stand on their heads, as printed; an element never does.
function pips(rank, suit) {
  const places = PIPS[rank];
  return places.map(([x, y]) => {
    const at = TOP + y * HEIGHT;
    const upside = y > 0.5 && !ELEMENTS.includes(suit) ? `rotate(180 ${x} ${at})` : null;
    return svg("g", { class: "pip", transform: upside }, suitShape(suit, x, at, pipSize(places.length), FACE));
  });
}

// One of the three stars: its character in a round frame, its name below.
function star(rank, colour) {
  return [
    svg("circle", { cx: 60, cy: 86, r: 35, fill: "#fdf3d3", stroke: "#c9971c", "stroke-width": 2.5 }),
    svg("circle", { cx: 60, cy: 86, r: 31, fill: "none", stroke: "#c9971c", "stroke-width": 1 }),
    character(rank, 60, 86, 40, colour, 9),
    svg("text", { x: 60, y: 135, class: "star-name", fill: colour }, STARS[rank]),
  ];
}

function court(rank, suit) {
  return [
    courtFigure(rank, suit, 43.5, 16.2, 50),
    suitShape(suit, 50, 17, 12),
    svg("g", { transform: "rotate(180 68.5 70)" }, suitShape(suit, 50, 17, 12)),
  ];
}

function figure(rank, suit, colour) {
  if (rank in STARS) return star(rank, colour);
  return rank in PIPS ? [frame(FACE, "#e2d6b4"), ...pips(rank, suit)] : [frame("#fff8e6", "#c9a34a"), ...court(rank, suit)];
}

function index(rank, suit, colour) {
  if (rank in STARS) return suitShape(suit, 75, 28, 34);
  return ELEMENTS.includes(suit) ? character(suit, 21.5, 77, 29, colour, 11) : suitShape(suit, 21.5, 77, 31);
}

export function cardFace(code) {
  const [rank, suit] = code;
  const colour = COLOURS[suit];
  return svg(
    "svg",
    { viewBox: "0 0 100 140", class: "card face", role: "img", "data-card": code },
    sheet(FACE, "#c9c4b4"),
    rankText(rank, colour),
    index(rank, suit, colour),
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

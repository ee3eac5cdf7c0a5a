// Marks of the roads, each in a cell of 1 by 1. Colour is never alone: banker and red are round, player and blue are
// square, a tie is a diamond; red and blue slashes of the cockroach pig lean to different sides.

import { svg } from "./svg.js";
import { firstText } from "./texts.js";

const SIDE = { B: "banker", P: "player", T: "tie" };

function outline(letter, inset, more) {
  const size = 1 - 2 * inset;
  if (letter === "B" || letter === "r") return svg("circle", { cx: 0.5, cy: 0.5, r: size / 2, ...more });
  if (letter === "T") {
    const i = inset - 0.03;
    return svg("path", { d: `M0.5 ${i}L${1 - i} 0.5 0.5 ${1 - i} ${i} 0.5Z`, "stroke-linejoin": "round", ...more });
  }
  return svg("rect", { x: inset + 0.015, y: inset + 0.015, width: size - 0.03, height: size - 0.03, rx: 0.14, ...more });
}

function pairDots(pairs) {
  return pairs.map((letter) =>
    letter === "B"
      ? svg("circle", { class: "pair B", cx: 0.17, cy: 0.17, r: 0.13 })
      : svg("rect", { class: "pair P", x: 0.71, y: 0.71, width: 0.25, height: 0.25, rx: 0.05 }));
}

export function beadMark({ winner, pairs }) {
  return [
    outline(winner, 0.08, { class: `bead ${winner}` }),
    svg("text", { class: "bead-letter", x: 0.5, y: 0.5 }, firstText(`letter.${SIDE[winner]}`)),
    ...pairDots(pairs),
  ];
}

export function bigMark({ winner, ties, pairs }) {
  const parts = winner === "T" ? [] : [outline(winner, 0.16, { class: `ring ${winner}` })];
  if (ties) parts.push(svg("path", { class: "tie-slash", d: "M0.2 0.8 0.8 0.2" }));
  if (ties > 1) parts.push(svg("text", { class: "tie-count", x: 0.5, y: 0.5 }, String(ties)));
  return [...parts, ...pairDots(pairs)];
}

export function derivedMark(road, colour) {
  if (road === "cockroach") {
    return svg("path", { class: `slash ${colour}`, d: colour === "r" ? "M0.2 0.82 0.8 0.18" : "M0.2 0.18 0.8 0.82" });
  }
  return outline(colour, road === "small" ? 0.13 : 0.19, { class: `${road === "small" ? "solid" : "hollow"} ${colour}` });
}

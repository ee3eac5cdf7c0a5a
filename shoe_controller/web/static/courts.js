// King, queen and jack: half a figure, 52 wide and 56 high, and the same half turned round, as on any court card.

import { svg } from "./svg.js";

const SKIN = "#f6d7b8";
const SHADE = "#dcae86";
const GOLD = "#e0aa2c";
const INK = "#1b2136";
const DRESS = {
  d: { robe: "#c4122f", trim: "#23408e", hair: "#e2b34a" },
  h: { robe: "#c4122f", trim: "#23408e", hair: "#b5651d" },
  c: { robe: "#23408e", trim: "#c4122f", hair: "#6b4423" },
  s: { robe: "#23408e", trim: "#c4122f", hair: "#3a3f52" },
};

const path = (d, fill, more = {}) => svg("path", { d, fill, ...more });
const dot = (cx, cy, r, fill) => svg("circle", { cx, cy, r, fill });
const stroke = (d, colour, width) =>
  path(d, "none", { stroke: colour, "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round" });

// Shoulders down to the waist, where the other half begins.
function robe({ robe: cloth, trim }) {
  return [
    path("M3 56C4 45 9 41 19 38.500L33 38.500C43 41 48 45 49 56Z", cloth),
    path("M19 38.5 26 50 33 38.5 37 40 30 56H22L15 40Z", GOLD),
    path("M19.5 38.5 26 48.5 32.5 38.500Z", trim),
    stroke("M9 56C9.5 50 11 47 13.5 44.500M43 56C42.5 50 41 47 38.5 44.5", GOLD, 1.6),
    dot(26, 52.5, 1.7, trim),
  ];
}

function face(hair) {
  return [
    path("M22.5 33h7v6.500q-3.5 3-7 0Z", SHADE),
    path("M17.5 20.500q8.5-4 17 0v8c0 6-4.5 9.5-8.5 9.500s-8.5-3.5-8.5-9.500Z", SKIN),
    stroke("M20.5 24.200q1.8-1 3.6 0M28 24.200q1.8-1 3.6 0", hair, 1),
    dot(22.4, 26.7, 1.05, INK),
    dot(29.7, 26.7, 1.05, INK),
    stroke("M26 27.5 25.3 30.800h1.5", SHADE, 0.9),
  ];
}

const mouth = () => stroke("M24 34q2 1.2 4 0", "#b8433a", 1.2);

const FIGURES = {
  K: (dress) => [
    path("M14.5 22C13 31 14 37 17 39.500L35 39.500C38 37 39 31 37.5 22Z", dress.hair),
    ...robe(dress),
    ...face(dress.hair),
    path("M17.5 28c1 3.5 2.5 4 4.5 3.6 1.5-.8 2.7-1 4-1s2.5.2 4 1c2 .4 3.5-.1 4.5-3.6.8 8-2.5 14.5-8.5 16.5-6-2-9.3-8.5-8.5-16.500Z", dress.hair),
    stroke("M24.3 34.300h3.4", "#b8433a", 1.3),
    path("M14 20 11.5 5.5 19.5 12 26 2.5 32.5 12 40.5 5.5 38 20Z", GOLD),
    path("M14 16.800h24V21.500H14Z", dress.trim),
    ...[[11.5, 5], [26, 2.5], [40.5, 5]].map(([x, y]) => dot(x, y, 1.9, dress.robe)),
    ...[19, 26, 33].map((x) => dot(x, 19.2, 1.2, GOLD)),
  ],
  Q: (dress) => [
    path("M13.5 22C9 32 9.5 41 13 45.5 17 46.5 19 43 20 39H32C33 43 35 46.5 39 45.5 42.5 41 43 32 38.5 22 34 13 18 13 13.5 22Z", dress.hair),
    ...robe(dress),
    ...face(dress.hair),
    path("M17 26C18 19 23 17.5 26 17.500S34 19 35 26C32 23.5 29 21.5 26 21.500S20 23.5 17 26Z", dress.hair),
    mouth(),
    path("M14.5 17.500C12.5 12 12.5 9 14 6.5 16.5 10 18.5 10 20 8.5 22 10.5 24 8 26 3 28 8 30 10.5 32 8.5 33.5 10 35.5 10 38 6.5 39.5 9 39.5 12 37.5 17.5 30 14.5 22 14.5 14.5 17.500Z", GOLD),
    ...[[14, 6.2], [20, 8], [32, 8], [38, 6.2]].map(([x, y]) => dot(x, y, 1.5, dress.robe)),
    dot(26, 3.2, 2, dress.robe),
    path("M26 9.5 28.3 12.3 26 15.1 23.7 12.300Z", dress.trim),
  ],
  J: (dress) => [
    path("M14.5 19C13 28 13.5 33 15.5 36L19 34V20H33V34L36.5 36C38.5 33 39 28 37.5 19Z", dress.hair),
    ...robe(dress),
    ...face(dress.hair),
    mouth(),
    path("M13.5 17.500C12 8.5 19 4.5 27 5 35 5.5 39.5 10 38.5 17.500Z", dress.robe),
    path("M11.5 16.500Q26 11.8 40.5 16.500V21.300Q26 16.6 11.5 21.300Z", GOLD),
    path("M33.5 14C33.5 6 38 1 46.5 0.5 47.5 8 43.5 14 36 16.8 40 12.5 42.2 9 43.5 5 39 7.5 36 10.5 33.5 14Z", dress.trim),
    dot(34, 15.5, 1.9, dress.trim),
  ],
};

// The whole figure, its upper left corner at (x, y), `width` wide.
export function courtFigure(rank, suit, x, y, width) {
  const half = FIGURES[rank](DRESS[suit]);
  const group = svg("g", { transform: `translate(${x} ${y}) scale(${width / 52})` });
  group.append(
    svg("g", { transform: "rotate(180 26 56)" }, ...half.map((part) => part.cloneNode(true))),
    svg("g", {}, ...half),
    stroke("M3 56H49", GOLD, 1.4),
  );
  return group;
}

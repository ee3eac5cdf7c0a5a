// The roads: six rows each, the newest columns that fit. Cells keep their true column in data-col, whatever is shown.

import { byId, html, svg } from "./svg.js";
import { beadMark, bigMark, derivedMark } from "./marks.js";
import { languages, spans } from "./texts.js";

const ROWS = 6;
let last = null;
let shownKey = "";

const derived = (road) => (roads) =>
  roads[`${road}_cells`].map(([col, row], i) => ({ col, row, colour: roads[road][i] }));

const ROADS = {
  bead: { marks: (roads) => roads.bead, draw: beadMark },
  big: { marks: (roads) => roads.big, draw: bigMark },
  big_eye: { marks: derived("big_eye"), draw: (mark) => [derivedMark("big_eye", mark.colour)] },
  small: { marks: derived("small"), draw: (mark) => [derivedMark("small", mark.colour)] },
  cockroach: { marks: derived("cockroach"), draw: (mark) => [derivedMark("cockroach", mark.colour)] },
};

function grid(columns) {
  const lines = [];
  for (let x = 0; x <= columns; x += 1) lines.push(`M${x} 0v${ROWS}`);
  for (let y = 0; y <= ROWS; y += 1) lines.push(`M0 ${y}h${columns}`);
  return svg("path", { class: "grid", d: lines.join("") });
}

function cell(mark, offset, draw, newest) {
  const attributes = {
    class: newest ? "mark newest" : "mark",
    transform: `translate(${mark.col - offset} ${mark.row})`,
    "data-col": mark.col,
    "data-row": mark.row,
    "data-mark": mark.winner ?? mark.colour,
    "data-ties": mark.ties ?? null,
    "data-pairs": mark.pairs ? mark.pairs.join("") : null,
  };
  const here = newest && mark.winner ? svg("rect", { class: "here", x: 0.035, y: 0.035, width: 0.93, height: 0.93, rx: 0.1 }) : null;
  return svg("g", attributes, ...draw(mark), here);
}

function drawRoad(id, roads) {
  const figure = byId(id);
  const drawing = figure.querySelector("svg");
  const box = drawing.getBoundingClientRect();
  const columns = Math.max(1, Math.round((box.width / box.height) * ROWS));
  const { marks, draw } = ROADS[id];
  const all = marks(roads);
  const width = all.reduce((most, { col }) => Math.max(most, col + 1), 0);
  const offset = Math.max(0, width - columns);
  drawing.setAttribute("viewBox", `-0.03 -0.03 ${columns + 0.06} ${ROWS + 0.06}`);
  // Half a column more or less is spread over all of them, so that the grid fills its place.
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.dataset.columns = columns;
  drawing.dataset.offset = offset;
  drawing.replaceChildren(
    grid(columns),
    ...all
      .map((mark, position) => [mark, position === all.length - 1])
      .filter(([{ col }]) => col >= offset)
      .map(([mark, newest]) => cell(mark, offset, draw, newest)),
  );
  let caption = figure.querySelector("figcaption");
  if (!caption) figure.append((caption = html("figcaption")));
  caption.replaceChildren(...spans(`road.${id}`));
  caption.hidden = false;
  const [left, top] = [caption.offsetLeft / box.width * columns + offset, caption.offsetTop / box.height * ROWS];
  caption.hidden = all.some(({ col, row }) => col + 1 > left && row + 1 > top);
}

// Most changes of the table, each card among them, leave the roads as they are.
export function showRoads({ roads }) {
  const key = JSON.stringify([languages(), roads]);
  if (key === shownKey) return;
  shownKey = key;
  last = roads;
  redrawRoads();
}

export function redrawRoads() {
  if (last) for (const id of Object.keys(ROADS)) drawRoad(id, last);
}

// Counts of the shoe, and what the next round would add to the derived roads.

import { byId, html, svg } from "./svg.js";
import { spans, wagerKey } from "./texts.js";
import { derivedMark } from "./marks.js";

// Wagers on single totals and colours win all the time; their counts tell nobody anything.
const COUNTED = /^(?!.*(_wins_on_|_red$|_black$|_pair$)).+$/;
const MAIN = ["player", "banker", "tie"];
const MOST_COUNTS = 9;

function count(id, label, value) {
  return html("div", { class: `count ${id}`, "data-count": id },
    html("span", { class: "label" }, ...label), html("b", {}, String(value)));
}

function askColumn(letter, marks) {
  const drawing = svg("svg", { viewBox: "0 0 3.6 1" });
  for (const [position, road] of ["big_eye", "small", "cockroach"].entries()) {
    const place = svg("g", { transform: `translate(${position * 1.3} 0)`, "data-ask": road, "data-colour": marks[road] ?? "" });
    if (marks[road]) place.append(derivedMark(road, marks[road]));
    else place.append(svg("path", { d: "M0.35 0.5h0.3", class: "none" }));
    drawing.append(place);
  }
  return html("div", { class: `ask ${letter}`, "data-ask-for": letter },
    html("span", { class: "label" }, ...spans(`ask.${letter}`)), drawing);
}

export function showStrip({ shoe, statistics, roads }) {
  const fixed = ["banker", "player", "tie", "banker_pair", "player_pair", "natural"];
  const shown = fixed.map((id) => count(id, spans(`count.${id}`), statistics[id]));
  const side = (shoe?.wagers ?? []).filter((id) => !MAIN.includes(id) && COUNTED.test(id));
  for (const id of side.slice(0, MOST_COUNTS - fixed.length - 1)) {
    shown.push(count(id, spans(...wagerKey(id)), statistics.wins[id] ?? 0));
  }
  if (statistics.void) shown.push(count("void", spans("count.void"), statistics.void));
  byId("counts").replaceChildren(...shown);
  byId("ask").replaceChildren(askColumn("B", roads.ask.B), askColumn("P", roads.ask.P));
}

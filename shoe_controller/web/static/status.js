// The middle of the page: what the table is doing, the countdown, the result and what it pays.

import { byId, html, svg } from "./svg.js";
import { limitsTable } from "./limits.js";
import { cardText, has, oddsText, spans, wagerKey, wagerNames } from "./texts.js";

let deadline = null; // when the countdown ends, by this page's own clock
let seconds = 0;

const heading = (key, values, cls = "") => html("h3", { class: `headline fit ${cls}` }, ...spans(key, values));
const line = (key, values, cls = "") => html("p", { class: `line ${cls}` }, ...spans(key, values));

function ring() {
  return html("div", { id: "countdown" },
    svg("svg", { viewBox: "0 0 100 100" },
      svg("circle", { cx: 50, cy: 50, r: 43, class: "track" }),
      svg("circle", { cx: 50, cy: 50, r: 43, class: "left", pathLength: 1, transform: "rotate(-90 50 50)" })),
    html("output", {}, html("b")));
}

function tick() {
  const box = byId("countdown");
  if (!box || deadline === null) return;
  const left = Math.max(0, deadline - performance.now()) / 1000;
  box.querySelector("b").textContent = String(Math.ceil(left));
  box.querySelector(".left").style.strokeDashoffset = String(1 - left / seconds);
  box.classList.toggle("soon", left <= 5);
}
setInterval(tick, 100);

// Every wager that wins with its odds, in the order of the rules, then those that are handed back.
function paysTable(round) {
  const rows = Object.entries(round.pays).map(([wager, odds]) =>
    html("tr", { "data-wager": wager, "data-odds": odds },
      html("th", {}, html("div", { class: "names" }, ...spans(...wagerKey(wager)))),
      html("td", {}, oddsText(odds))));
  if (round.pushes.length) {
    rows.push(html("tr", { class: "push", "data-push": round.pushes.join(" ") },
      html("th", {}, html("div", { class: "names" }, ...wagerNames(round.pushes))),
      html("td", {}, ...spans("pushed"))));
  }
  return html("table", { class: `pays ${amount(rows.length)}` }, ...rows);
}

// Few lines are written large.
const amount = (lines) => (lines > 4 ? "many" : lines > 2 ? "some" : "few");

function result(round) {
  const lines = Object.keys(round.pays).length + Math.min(1, round.pushes.length);
  return [heading(`result.${round.winner}`, {}, `result ${amount(lines)} ${round.winner}`), paysTable(round)];
}

function betting({ table, betting: open, carried }) {
  return [
    heading("phase.betting", {}, "open"),
    open?.remaining_ms === null || !open ? null : ring(),
    carried.length ? line("carried", { cards: (language) => cardNames(carried, language) }) : null,
    limitsTable(table.limits),
  ];
}

const cardNames = (codes, language) => codes.map((code) => cardText(code, language)).join(", ");

function dealing({ next, table, round }) {
  const hidden = table.reveal === "on-result" && round && round.player.length + round.banker.length >= 4;
  return [
    heading("phase.dealing", {}, "closed"),
    next ? html("p", { class: `next-card ${next}` }, ...spans(`next.${next}`)) : null,
    hidden ? line("next.hidden", {}, "quiet") : null,
  ];
}

const voided = (round) => [
  heading("phase.void", {}, "void"),
  line(round?.void_rule ? "void.rule" : "void.plain", { rule: round?.void_rule ?? "", round: round?.round ?? "" }),
  line("void.refund", {}, "quiet"),
];

function fault({ faults }) {
  const name = (id) => {
    const key = `fault.${id.replaceAll("_", "-")}`;
    return has(key) ? spans(key) : spans("fault.other", { name: id.replaceAll(/[_-]/g, " ") });
  };
  return [heading("phase.fault", {}, "fault"), ...faults.map((id) => html("p", { class: "line" }, ...name(id)))];
}

function parts(state) {
  const { phase, round, shoe } = state;
  if (phase === "betting") return betting(state);
  if (phase === "dealing") return dealing(state);
  if (phase === "announced" && round?.winner) return result(round);
  if (phase === "void") return voided(round);
  if (phase === "fault") return fault(state);
  if (phase === "burning") return [heading("phase.burning"), line("burn.left", { n: shoe?.burn_left ?? 0 })];
  if (phase === "decision") return [heading("phase.decision", {}, "stopped"), line("waits.decision", {}, "quiet")];
  if (phase === "shoe-ended" && round?.winner) return [...result(round), line("phase.shoe-ended", {}, "ended")];
  if (phase === "shoe-ended" && round?.status === "void") return [...voided(round), line("phase.shoe-ended", {}, "ended")];
  return [heading(`phase.${phase}`), phase === "ready" ? limitsTable(state.table.limits) : null];
}

export function showStatus(state) {
  deadline = null;
  if (state.betting && state.betting.remaining_ms !== null) {
    seconds = state.betting.seconds;
    deadline = performance.now() + state.betting.remaining_ms;
  }
  byId("status").replaceChildren(html("div", { class: "inner fit" }, ...parts(state)));
  tick();
}

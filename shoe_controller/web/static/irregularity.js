// What went wrong, in plain words: shown large where play has stopped, as one line where it goes on, until a
// supervisor has acknowledged it.

import { byId, html, svg } from "./svg.js";
import { card } from "./cards.js";
import { spans } from "./texts.js";

const LARGE_IN = ["decision", "void", "fault", "shoe-ended"];
const MOST = 2; // more than two at once are counted, the newest are shown

function sign() {
  return svg("svg", { viewBox: "-4 -2 108 94", class: "sign" },
    svg("path", { d: "M50 4 97 86H3Z", class: "sign-edge" }),
    svg("path", { d: "M50 32v28", class: "sign-mark" }),
    svg("circle", { cx: 50, cy: 73, r: 4.5, class: "sign-dot" }));
}

const tag = (key, values, cls = "") => html("span", { class: `tag ${cls}` }, ...spans(key, values));

// A decision that was taken stops nobody any more; it only waits to be acknowledged.
const decided = (one) => one.effect === "decision" && one.waits_for === "acknowledgement";

function entry(one, large) {
  const cards = large ? one.cards.slice(0, 4).map((code) => card(code)) : [];
  return html("div", { class: "entry", "data-kind": one.kind, "data-waits": one.waits_for },
    html("div", { class: "words fit" },
      html("h3", {}, ...spans(`irregularity.${one.kind}`)),
      large ? html("p", { class: "explained" }, ...spans(`irregularity.${one.kind}.words`)) : null,
      html("div", { class: "tags" },
        one.rule ? tag("irregularity.rule", { rule: one.rule }, "rule") : null,
        one.round ? tag("irregularity.round", { round: one.round }) : null,
        tag(decided(one) ? "effect.decided" : `effect.${one.effect}`, {}, one.effect),
        tag(`waits.${one.waits_for}`, {}, "waits"))),
    cards.length ? html("div", { class: "evidence" }, ...cards) : null);
}

export function showIrregularities({ irregularities, phase }) {
  const box = byId("irregularity");
  box.hidden = irregularities.length === 0;
  if (box.hidden) return;
  const large = LARGE_IN.includes(phase);
  const ordered = [...irregularities].reverse(); // those that wait for a decision come first, newest before older
  const shown = ordered.slice(0, large ? MOST : 1);
  const more = ordered.length - shown.length;
  box.className = large ? "large" : "compact";
  box.replaceChildren(
    sign(),
    html("div", { class: "entries" }, ...shown.map((one) => entry(one, large))),
    ...(more ? [tag("irregularity.more", { n: more }, "more")] : []));
}

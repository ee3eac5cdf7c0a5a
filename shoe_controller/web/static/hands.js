// The two hands: cards as they fall, totals, who is next, who has won.

import { byId, html } from "./svg.js";
import { card } from "./cards.js";
import { say, spans } from "./texts.js";

const SIDES = ["player", "banker"];
let handKey = ""; // shoe, round and revision of the cards on the page

function showCards(box, codes, isNext, fresh) {
  const slots = Math.max(2, codes.length + (isNext && codes.length < 3 ? 1 : 0));
  if (fresh) box.replaceChildren();
  while (box.children.length > slots) box.lastElementChild.remove();
  for (let position = 0; position < slots; position += 1) {
    const code = codes[position];
    const old = box.children[position];
    const wanted = code === undefined ? "slot" : code || "back";
    if (old?.dataset.shows === wanted) continue;
    const place = html("div", { class: "place-card", "data-shows": wanted });
    if (code === undefined) place.classList.add("slot");
    else place.append(card(code));
    if (code !== undefined && !fresh) place.classList.add(old?.dataset.shows === "back" ? "turned" : "dealt");
    if (old) old.replaceWith(place);
    else box.append(place);
  }
  for (const [position, place] of [...box.children].entries()) {
    place.classList.toggle("awaited", isNext && position === codes.length);
  }
}

function badges(round, side, codes) {
  const shown = [];
  // A natural is made by two cards and nobody draws after it.
  if (round.player.length === 2 && round.banker.length === 2 && round[`${side}_total`] >= 8) shown.push("natural");
  if (codes.length >= 2 && codes[0] && codes[0][0] === codes[1][0]) shown.push("pair");
  return shown;
}

export function showHands({ shoe, round, next, phase }) {
  const key = round ? `${shoe?.id}/${round.round}` : "";
  const fresh = key !== handKey;
  handKey = key;
  // Between rounds the last hand stays until betting opens; a round without cards shows empty places.
  for (const side of SIDES) {
    const hand = byId(side);
    const codes = round ? round[side] : [];
    const isNext = next === side;
    say(hand.querySelector("h2"), side);
    const total = round?.[`${side}_total`];
    const known = codes.length > 0 && total !== null;
    const place = hand.querySelector(".total");
    place.textContent = known ? String(total) : "–";
    place.classList.toggle("unknown", !known);
    hand.classList.toggle("next", isNext);
    hand.classList.toggle("won", round?.winner === side);
    hand.classList.toggle("tied", round?.winner === "tie");
    hand.classList.toggle("lost", Boolean(round?.winner) && round.winner !== side && round.winner !== "tie");
    const marks = round ? badges(round, side, codes) : [];
    hand.querySelector(".badges").replaceChildren(
      ...marks.map((mark) => html("span", { class: `badge ${mark}` }, ...spans(mark))),
      ...(isNext ? [html("span", { class: "badge next" }, ...spans("next"))] : []),
    );
    showCards(hand.querySelector(".cards"), codes, isNext, fresh);
  }
  const isVoid = round?.status === "void" && phase !== "betting" && phase !== "dealing";
  const stamp = byId("stamp");
  stamp.hidden = !isVoid;
  if (isVoid) {
    // One stamp on each hand: two languages have one each.
    const [first, second = first.cloneNode(true)] = spans("void.stamp");
    stamp.replaceChildren(first, second);
  }
  byId("hands").classList.toggle("void", isVoid);
}

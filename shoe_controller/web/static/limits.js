// Table limits: wagers with the same limits are shown together.

import { html } from "./svg.js";
import { money, spans, wagerNames } from "./texts.js";

const range = ({ min, max }) => `${money(min)} – ${money(max)}`;

function groups(limits) {
  const made = new Map();
  for (const limit of limits) {
    const key = range(limit);
    made.set(key, [...(made.get(key) ?? []), limit.wager]);
  }
  return [...made];
}

// The limits that most players ask for: those of player and banker.
export function mainLimit(limits) {
  const main = limits.find(({ wager }) => wager === "player" || wager === "banker") ?? limits[0];
  return main ? range(main) : "";
}

// The two pairs nearly always go together, and one word says it.
const names = (wagers) =>
  wagers.length === 2 && wagers.includes("player_pair") && wagers.includes("banker_pair") ? spans("pairs") : wagerNames(wagers);

export function limitsTable(limits) {
  const rows = groups(limits).map(([shown, wagers]) =>
    html("tr", {},
      html("th", {}, html("div", { class: "names" }, ...names(wagers))),
      html("td", {}, shown)));
  return rows.length ? html("table", { class: "limits" }, ...rows) : null;
}

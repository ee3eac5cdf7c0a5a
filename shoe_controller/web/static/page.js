// The table display: takes each state from the controller and shows it, all of it, every time.

import { byId, fitAll, html } from "./svg.js";
import { follow } from "./live.js";
import { has, languages, loadTexts, say, spans, textIn } from "./texts.js";
import { showHands } from "./hands.js";
import { showStatus } from "./status.js";
import { mainLimit } from "./limits.js";
import { showStrip } from "./strip.js";
import { redrawRoads, showRoads } from "./roads.js";
import { showIrregularities } from "./irregularity.js";

const RESTART_NOTICE_MS = 8000;
let pageHash = null;
let shown = null; // the state on the page
let noticeTimer = 0;

async function onState(state) {
  if (pageHash !== null && pageHash !== state.page) {
    location.reload(); // the controller was updated
    return;
  }
  pageHash = state.page;
  if (state.table.languages.join() !== languages().join()) await loadTexts(state.table.languages);
  show(state);
}

function show(state) {
  const root = document.documentElement;
  root.lang = state.table.languages[0];
  root.dataset.theme = state.table.theme;
  const body = document.body;
  body.dataset.phase = state.phase;
  body.dataset.languages = state.table.languages.length;
  body.dataset.reveal = state.table.reveal;
  showHeader(state);
  showHands(state);
  showStatus(state);
  showStrip(state);
  showRoads(state);
  showIrregularities(state);
  showFooter(state);
  fitAll();
  shown = state;
  body.dataset.seq = state.seq;
}

function fact(name, value, extra = "") {
  return html("div", { id: `fact-${name}` }, html("dt", {}, ...spans(name)), html("dd", { class: "fit" }, value, extra));
}

function showHeader({ table, shoe, round }) {
  byId("table-title").textContent = table.title || table.name;
  byId("table-name").textContent = [table.site, table.title ? table.name : ""].filter(Boolean).join(" / ");
  const game = byId("game");
  game.replaceChildren();
  if (shoe) {
    const key = `game.${shoe.game}`;
    const titles = languages().map((language) => [language, has(key) && textIn(language, key)]);
    const own = titles.map(([language, text]) => [language, text && text !== key ? text : shoe.title]);
    const unique = own.filter(([, text], i) => own.findIndex(([, other]) => other === text) === i);
    game.append(...unique.map(([lang, text]) => html("span", { lang }, text)));
  }
  const facts = byId("shoe-facts");
  facts.replaceChildren();
  if (shoe) facts.append(fact("shoe", shoe.id), fact("round", round ? String(round.round) : "–"));
  const limit = mainLimit(table.limits);
  if (limit) facts.append(fact("limits", limit));
}

function showFooter({ shoe, version }) {
  const hash = byId("rules-hash");
  hash.replaceChildren();
  if (shoe) {
    const entries = [["rules", shoe.rules_hash.slice(0, 12)], ["decks", shoe.decks], ["cards", shoe.cards]];
    hash.append(...entries.map(([key, value]) => html("span", { id: key }, ...spans(key), html("b", {}, String(value)))));
  }
  const notice = byId("notice");
  notice.replaceChildren();
  if (shoe?.cut_seen) say(notice, shoe.rounds_left ? "cut" : "cut.last", { n: shoe.rounds_left });
  byId("version").textContent = `shoe-controller ${version}`;
}

function setLive(value) {
  document.body.dataset.live = value;
}

function onLost() {
  setLive("lost");
  byId("offline").firstElementChild.replaceChildren(
    html("strong", {}, ...spans("offline.lost")),
    html("p", {}, ...spans("offline.detail")),
  );
}

function onRestart() {
  const notice = say(byId("restarted"), "restarted");
  notice.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { notice.hidden = true; }, RESTART_NOTICE_MS);
}

addEventListener("resize", () => {
  if (shown) {
    redrawRoads();
    fitAll();
  }
});

follow({ onState, onLive: () => setLive("live"), onLost, onRestart });

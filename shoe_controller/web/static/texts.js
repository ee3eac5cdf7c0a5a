// Texts of the page, from one file a language; one language or two at once.

import { html } from "./svg.js";

let tables = [];
let fallback = {};

async function table(language) {
  const answer = await fetch(`/texts/${encodeURIComponent(language)}.json`);
  if (!answer.ok) throw new Error(`no texts for ${language}: ${answer.status}`);
  return answer.json();
}

// English is always loaded: a text that a language lacks is shown in English rather than not at all.
export async function loadTexts(languages) {
  const loaded = await Promise.all(["en", ...languages].map(table));
  fallback = loaded[0];
  tables = languages.map((language, position) => ({ language, texts: loaded[position + 1] }));
}

function filled(template, values, language) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "function" ? value(language) : String(value);
  });
}

export const languages = () => tables.map((one) => one.language);

export const has = (key) => key in fallback || tables.some((one) => key in one.texts);

// One language's text; a value may be a function of the language, for names inside of sentences.
export function textIn(language, key, values = {}) {
  const one = tables.find((candidate) => candidate.language === language);
  return filled(one?.texts[key] ?? fallback[key] ?? key, values, language);
}

export function firstText(key, values = {}) {
  return textIn(tables[0].language, key, values);
}

// The text in each language, as spans; the same text twice (numbers, names) is shown once.
export function spans(key, values = {}) {
  const seen = new Set();
  const made = [];
  for (const { language } of tables) {
    const text = textIn(language, key, values);
    if (!seen.has(text)) made.push(html("span", { lang: language }, text));
    seen.add(text);
  }
  return made;
}

export function say(element, key, values = {}) {
  element.replaceChildren(...spans(key, values));
  return element;
}

// A wager by its name; one that no language knows is shown by its id, made readable.
export function wagerKey(id) {
  if (has(`wager.${id}`)) return [`wager.${id}`, {}];
  const onTotal = id.match(/^(player|banker|tie)_wins_on_(\d)$/);
  if (onTotal) return [`wager.${onTotal[1]}_wins_on`, { n: onTotal[2] }];
  const words = id.replaceAll("_", " ");
  return ["wager", { name: words.charAt(0).toUpperCase() + words.slice(1) }];
}

// Several wagers in one line.
export function wagerNames(ids) {
  const names = (language) => ids.map((id) => textIn(language, ...wagerKey(id))).join(" / ");
  return spans("wagers", { names });
}

// A card in words of a sentence: 10♥ or, of the elements, the name in that language.
export function cardText(code, language) {
  if (!code) return textIn(language, "card.hidden");
  const rank = { T: "10", S: "Sau", L: "Luk", F: "Fuk" }[code[0]] ?? code[0];
  const suit = { c: "♣", d: "♦", h: "♥", s: "♠" }[code[1]];
  return suit ? rank + suit : `${textIn(language, `rank.${code[0]}`) === `rank.${code[0]}` ? rank : textIn(language, `rank.${code[0]}`)} ${textIn(language, `element.${code[1]}`)}`;
}

// Odds as people say them: 1 : 2, and a fixed prize as money.
export function oddsText(odds) {
  return odds.startsWith("+") ? money(odds.slice(1)) : odds.replace(":", " : ");
}

export function money(dollars) {
  const [whole, cents] = String(dollars).split(".");
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${cents && cents !== "00" ? `.${cents}` : ""}`;
}

// What is wrong with the layout of the page, as sentences: cut off, overlapping, too small or too faint to read.
() => {
  const faults = [];
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
  };
  const name = (element) => {
    const classes = element.className.baseVal ?? element.className;
    return element.tagName.toLowerCase() + (element.id ? `#${element.id}` : "") + (classes ? `.${classes}` : "");
  };
  const inside = (inner, outer, slack) =>
    inner.left >= outer.left - slack && inner.top >= outer.top - slack &&
    inner.right <= outer.right + slack && inner.bottom <= outer.bottom + slack;
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const short = Math.min(innerWidth, innerHeight);
  const PANELS = ".hand, #status, .count, .ask, #irregularity, header, footer, #offline > div, #restarted, " +
    ".total, .badge, .tag, .next-card";
  const KEY = ".hand h2, .total, .headline, .pays td, .pays .names > :first-child, .next-card, .count b, #countdown, dd, " +
    ".words h3, .explained, .large .tag.waits";

  // Where the letters are: a font may claim more height than they have.
  const ink = (range, element) => {
    const { left, right, top, bottom } = range.getBoundingClientRect();
    const over = (range.getClientRects()[0].height - parseFloat(getComputedStyle(element).fontSize)) / 2;
    return { left, right, top: top + Math.max(0, over), bottom: bottom - Math.max(0, over) };
  };

  const texts = [...document.querySelectorAll("body *")].filter((element) =>
    seen(element) && !element.closest("svg") &&
    [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()));
  for (const element of texts) {
    const range = document.createRange();
    range.selectNodeContents(element);
    const box = ink(range, element);
    const said = `"${element.textContent.trim()}" (${name(element)})`;
    if (!inside(box, screen, 1)) faults.push(`${said} leaves the screen`);
    const panel = element.closest(PANELS);
    if (panel && !inside(box, panel.getBoundingClientRect(), 2)) faults.push(`${said} leaves ${name(panel)}`);
    // What the table is about must be read from three metres; the rest by whoever steps up to it.
    const least = element.closest(KEY) ? short / 55 : short / 90;
    if (parseFloat(getComputedStyle(element).fontSize) < least) faults.push(`${said} is too small`);
  }

  for (const element of document.querySelectorAll(".fit")) {
    const wide = element.scrollWidth > element.clientWidth + 1;
    if (seen(element) && wide) faults.push(`${name(element)} is cut off: "${element.textContent}"`);
  }
  for (const part of [...document.querySelectorAll(".fit :is(.tag, p, h3, tr, #countdown, .count)")].filter(seen)) {
    const place = part.closest(".fit");
    const whole = inside(part.getBoundingClientRect(), place.getBoundingClientRect(), 1.5);
    if (!whole) faults.push(`${name(part)} is cut off: "${part.textContent}"`);
  }
  for (const card of document.querySelectorAll(".hand .place-card")) {
    const hand = card.closest(".hand");
    if (!inside(card.getBoundingClientRect(), hand.getBoundingClientRect(), 1)) faults.push(`a card leaves ${hand.id}`);
  }
  for (const card of document.querySelectorAll("#irregularity .card")) {
    const panel = card.closest("#irregularity");
    if (!inside(card.getBoundingClientRect(), panel.getBoundingClientRect(), 0)) faults.push("a card leaves its notice");
  }

  for (const number of document.querySelectorAll(".count b")) {
    const count = number.closest(".count");
    const gap = count.getBoundingClientRect().right - number.getBoundingClientRect().right;
    if (seen(count) && gap < 4) faults.push(`${name(count)} has no room at its edge`);
  }

  for (const caption of [...document.querySelectorAll("figcaption")].filter(seen)) {
    const a = caption.getBoundingClientRect();
    const under = [...caption.closest("figure").querySelectorAll(".mark")].some((mark) => {
      const b = mark.getBoundingClientRect();
      return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    });
    if (under) faults.push(`"${caption.textContent}" lies under a mark`);
  }

  const BLOCKS = "header > *, .hand, #status, .count, .ask, .road, #irregularity, footer > *";
  const notice = document.getElementById("restarted");
  if (seen(notice)) {
    const below = document.getElementById("hands").getBoundingClientRect();
    if (notice.getBoundingClientRect().bottom > below.top) faults.push("the notice of a restart hides the hands");
  }
  const blocks = [...document.querySelectorAll(BLOCKS)].filter(seen);
  for (const [i, one] of blocks.entries()) {
    const a = one.getBoundingClientRect();
    if (!inside(a, screen, 1)) faults.push(`${name(one)} leaves the screen`);
    for (const other of blocks.slice(i + 1)) {
      const b = other.getBoundingClientRect();
      const apart = a.left >= b.right - 1 || b.left >= a.right - 1 || a.top >= b.bottom - 1 || b.top >= a.bottom - 1;
      if (!apart) faults.push(`${name(one)} and ${name(other)} overlap`);
    }
  }

  // Contrast after WCAG 2: 4.5 to 1, for large text 3 to 1.
  const parse = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const ground = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null; // a gradient: looked at by people
      const colour = parse(style.backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    const hex = getComputedStyle(document.documentElement).getPropertyValue("--bg").trim();
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  };
  const live = document.body.dataset.live === "live";
  for (const element of texts) {
    // What is void or not live is faint because it should be.
    if (element.closest("#hands.void .hand") || (element.closest("main") && !live)) continue;
    const below = ground(element);
    if (!below) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(parse(style.color)), light(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      faults.push(`"${element.textContent.trim()}" (${name(element)}) has a contrast of ${ratio.toFixed(1)}`);
    }
  }
  return [...new Set(faults)];
}

"""Pictures of the display in every state: `python -m tests.web.screenshots FOLDER`.

Plays tables and writes a PNG of each scene for displays of several layouts, themes and languages, of the page when its
controller is gone, and of all card faces. `--docs` writes the four that docs/images holds, small and with few colours;
for that Pillow must be there (`pip install Pillow`), which nothing else here needs.
"""

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.web.browser import CHROMIUM, FLAGS, LAYOUTS, wait_for_seq
from tests.web.scenes import enact, story
from tests.web.table import served, settings

# Name of the display: layout, settings.
DISPLAYS = {
    "1080p-both": ("1080p", settings(languages=("en", "zh"))),
    "1080p-zh-light": ("1080p", settings(languages=("zh",), theme="light")),
    "1080p-squeeze": ("1080p", settings(languages=("en", "zh"), reveal="on-result")),
    "720p-en": ("720p", settings(languages=("en",))),
    "720p-both-light": ("720p", settings(languages=("en", "zh"), theme="light")),
    "portrait-zh": ("portrait", settings(languages=("zh",))),
    "portrait-both-light": ("portrait", settings(languages=("zh", "en"), theme="light")),
    "portrait-squeeze": ("portrait", settings(languages=("en",), reveal="on-result")),
}
# Name of the picture in docs/images: display, scene, width in pixels.
FOR_DOCS = {
    "display-result": ("1080p-both", "court-cards", 960),
    "display-six-star": ("1080p-both", "seventy-rounds", 960),
    "display-irregularity": ("1080p-both", "decision", 960),
    "display-portrait-zh": ("portrait-zh", "result", 540),
}

ALL_FACES = """async ([deck, across]) => {
  const { card } = await import("/static/cards.js");
  document.body.replaceChildren(...deck.map((code) => {
    const place = document.createElement("div");
    Object.assign(place.style, { width: "135px", height: "189px" });
    place.append(card(code));
    return place;
  }));
  Object.assign(document.body.style, {
    height: "auto", gap: "12px", padding: "12px", background: "#0b2a66", gridTemplateColumns: `repeat(${across}, auto)`,
  });
}"""
FACES = [r + s for s in "shdc" for r in "A23456789TJQK"] + [r + s for s in "fgewa" for r in "A23456789TSLF"] + [""]


class Camera:
    """Takes pictures of the displays of one table."""

    def __init__(self, browser, folder, wanted):
        self._browser = browser
        self._folder = folder
        self._wanted = wanted
        self._pages = {}

    def open(self, display, address, scale=1.0):
        width, height = LAYOUTS[DISPLAYS[display][0]]
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=scale, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("body[data-live=live]")
        self._pages[display] = page
        return page

    def take(self, scene, seq):
        """Take the scene's pictures once every page shows what the journal has."""
        for display, page in self._pages.items():
            if name := self._wanted(display, scene):
                wait_for_seq(page, seq)
                page.screenshot(path=self._folder / f"{name}.png")

    def take_lost(self):
        for display, page in self._pages.items():
            page.wait_for_selector("body[data-live=lost]")
            page.screenshot(path=self._folder / f"{display}-connection-lost.png")

    def take_faces(self, address):
        """Take all card faces."""
        page = self._browser.new_page(viewport={"width": 1923, "height": 1080})
        page.goto(address)
        page.wait_for_selector("body[data-live=live]")
        page.evaluate(ALL_FACES, [FACES, 13])
        page.screenshot(path=self._folder / "faces.png", full_page=True)


def play(camera, displays, scales=None):
    """Play the whole story before the camera; the server is gone when this returns."""
    chosen = [DISPLAYS[display][1] for display in displays]
    with contextlib.ExitStack() as stack:
        journal = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "journal"
        server = stack.enter_context(served(journal, chosen[0], also=tuple(chosen[1:])))
        for display, address in zip(displays, server.addresses, strict=True):
            camera.open(display, address, (scales or {}).get(display, 1.0))
        for scene, happens in story():
            enact(server, happens)
            camera.take(scene, server.table.tail.last_seq)
        if scales is None:
            camera.take_faces(server.addresses[0])


def take_all(browser, folder):
    """Write a picture of every scene of every display."""
    camera = Camera(browser, folder, lambda display, scene: f"{display}-{scene}")
    play(camera, DISPLAYS)
    camera.take_lost()


def take_for_docs(browser, folder):
    """Write the pictures of the documentation."""
    names = {(display, scene): name for name, (display, scene, _) in FOR_DOCS.items()}
    scales = {display: width / LAYOUTS[DISPLAYS[display][0]][0] for display, _, width in FOR_DOCS.values()}
    play(Camera(browser, folder, lambda display, scene: names.get((display, scene))), scales, scales)
    for name in FOR_DOCS:
        use_few_colours(folder / f"{name}.png")


def use_few_colours(picture):
    from PIL import Image

    with Image.open(picture) as taken:
        few = taken.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.web.screenshots", description="Pictures of the display.")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--docs", action="store_true", help="only the four of the documentation, at their size")
    args = parser.parse_args(arguments)
    args.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        (take_for_docs if args.docs else take_all)(browser, args.folder)
        browser.close()
    print(f"{len(list(args.folder.glob('*.png')))} pictures in {args.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

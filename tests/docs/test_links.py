"""All pages: links lead somewhere, commands exist, and the map of packages and threads is complete."""

import re
from pathlib import Path

import pytest

from shoe_controller.cli.commands import COMMANDS
from shoe_controller.cli.outline import every_command, outline
from shoe_controller.service.table import SLOW_SECONDS, STAY_ASIDE

PROJECT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in PROJECT.rglob("*.md")
    if not any(part.startswith(".") or part == "build" for part in page.relative_to(PROJECT).parts)
)
NAMES = [str(page.relative_to(PROJECT)) for page in PAGES]
# Within code only: prose may speak of the program.
CODE = re.compile(r"`[^`\n]+`|^(?: {4,}|```[a-z]*\n).*?(?:$|```)", re.MULTILINE | re.DOTALL)
# What is signed begins with the program's name, too: "shoe-controller entry 1".
MENTION = re.compile(r"(?<![\w/.-])shoe-controller (?!\w+ 1\b)([a-z][^`\n|;)]*)")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """Return the names of a page's headings as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_relative_link_leads_somewhere(page):
    for target in LINK.findall(page.read_text()):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        if anchor and place.suffix == ".md":
            assert anchor in anchors(place), target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_command_that_is_mentioned_exists_with_its_options(page):
    commands = {command.path[1:]: command for command in every_command(outline())}
    for words in MENTION.findall("\n".join(CODE.findall(page.read_text()))):
        word, *rest = words.split()
        word = word.rstrip(".,:")
        assert word in COMMANDS, f"shoe-controller {words}"
        path = (word, rest[0]) if rest and (word, rest[0]) in commands else (word,)
        known = {flag for option in commands[path].options for flag in option.flags}
        for flag in re.findall(r"(?<=\s)(--[a-z][a-z-]*)", " ".join(rest).join("  ")):
            assert flag in known, f"shoe-controller {words}"


def test_the_index_has_every_page():
    index = (PROJECT / "docs" / "README.md").read_text()
    linked = {link.partition("#")[0] for link in LINK.findall(index)}
    assert {page.name for page in PAGES if page.parent == PROJECT / "docs"} - {"README.md"} <= linked


def test_the_map_has_every_package():
    page = (PROJECT / "docs" / "architecture.md").read_text()
    for root in ("shoe_controller", "drivers", "firmware_protocol"):
        for package in sorted((PROJECT / root).rglob("__init__.py")):
            name = ".".join(package.parent.relative_to(PROJECT).parts)
            assert name == "shoe_controller" or f"| `{name}` |" in page, name


def test_the_table_of_threads_has_every_thread():
    page = (PROJECT / "docs" / "architecture.md").read_text().partition("## Threads")[2]
    found = set()
    for root in ("shoe_controller", "drivers"):
        for module in (PROJECT / root).rglob("*.py"):
            found |= set(re.findall(r'(?:start_thread\(|ThreadPoolExecutor\(1, )"([\w-]+)"', module.read_text()))
    assert found
    assert all(f"`{name}`" in page for name in found), found
    assert f"longer than {SLOW_SECONDS * 1000:g} ms" in page
    assert f"the next {STAY_ASIDE} commits" in page

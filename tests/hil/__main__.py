"""`make hil`: check a real table, wired and configured, with a person in front of it. Stop the daemon first.

make hil HIL="--config /etc/shoe-controller/shoe-controller.toml"
"""

import argparse
import asyncio
import sys
from pathlib import Path

from drivers.errors import DriverError
from drivers.panel.panel import Panel
from shoe_controller.app.table_panel import pin_map
from shoe_controller.config import DEFAULT_PATH, load
from shoe_controller.errors import ControllerError
from tests.hil.steps import Seen, check_panel, check_shoe


async def ask(question: str) -> bool:
    """Ask a person at the terminal."""
    answer = await asyncio.to_thread(input, f"{question} [y/n] ")
    return answer.strip().lower().startswith("y")


def tell(sentence: str) -> None:
    print(sentence, flush=True)


async def check(config_file: Path) -> list[tuple[str, bool]]:
    config = load(config_file)
    results: list[tuple[str, bool]] = []
    if config.panel.factory != "none":
        seen = Seen()
        panel = Panel(pin_map(config.panel), config.panel.factory, seen.take, seen.take)
        panel.open()
        try:
            results += await check_panel(panel, seen, ask, tell)
        finally:
            panel.close()
    if config.shoe.protocol == "open":
        results += await check_shoe(config.shoe.device, ask, tell)
    else:
        tell(f"A shoe of protocol {config.shoe.protocol} is not part of this check.")
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="make hil", description=__doc__)
    parser.add_argument("--config", type=Path, default=DEFAULT_PATH, metavar="FILE")
    args = parser.parse_args()
    try:
        results = asyncio.run(check(args.config))
    except (ControllerError, DriverError) as error:
        print(error, file=sys.stderr)
        return 2
    for name, passed in results:
        print(f"{'ok  ' if passed else 'FAIL'}  {name}")
    return 0 if results and all(passed for _, passed in results) else 1


if __name__ == "__main__":
    sys.exit(main())

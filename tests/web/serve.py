"""A table's display as a process of its own, to be killed and started again: `python -m tests.web.serve`.

Arguments: the journal's folder, a port, a boot id. Plays each line of standard input at the table and answers with
the number of the newest fact.
"""

import asyncio
import sys
from pathlib import Path

from shoe_controller.web.server import create_app, serving
from tests.web.table import PlayedTable


async def main(folder, port, boot):
    table = PlayedTable(Path(folder), boot=boot)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with serving(create_app(table.feed, table.settings), "127.0.0.1", int(port)) as (got, _):
        print(got, flush=True)
        while line := await lines.readline():
            table.play(line.decode())
            print(table.tail.last_seq, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""Prints the ids of live clicks of a link. Run with the installed wheel by kills.test.ts."""

import asyncio
import os
import sys

from hoplog import AsyncHoplog


async def main() -> None:
    async with AsyncHoplog(key=os.environ["HOPLOG_KEY"]) as hoplog:
        async for click in hoplog.clicks.live(link_ids=[sys.argv[1]]):
            print(click["id"], flush=True)


asyncio.run(main())

"""The display page of a real daemon, in a real browser, while the daemon is killed and started again."""

import asyncio
import json
import urllib.request

from playwright.async_api import async_playwright

from tests.broker import free_port
from tests.system.rig import rigged
from tests.web.browser import CHROMIUM, FLAGS


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
        return answer.read().decode()


def test_an_open_page_outlives_the_daemon_and_shows_what_the_journal_says(tmp_path):
    port = free_port()

    async def scenario():
        async with (
            rigged(tmp_path, game="six-star", web={"enabled": True, "port": port}) as rig,
            async_playwright() as playwright,
        ):
            rig.start()
            await rig.ready()
            assert await rig.play(2) == 2
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = await browser.new_page()
            await page.goto(f"http://127.0.0.1:{port}/")
            await page.wait_for_selector("body[data-live=live]")
            for _ in range(3):
                rig.kill()
                await page.wait_for_selector("body:not([data-live=live])")
                rig.start()
                await rig.ready()
                await page.wait_for_selector("body[data-live=live]", timeout=30_000)
                assert await rig.play(1) == 1
                seq = (await rig.status()).seq

                async def shown(seq=seq):
                    return int(await page.get_attribute("body", "data-seq")) >= seq

                await rig.until(shown, "the page shows the newest fact")
            state = json.loads(await asyncio.to_thread(get, port, "/state.json"))
            assert state["round"]["round"] == 5
            health = json.loads(await asyncio.to_thread(get, port, "/healthz"))
            assert health["status"] == "ok"
            metrics = await asyncio.to_thread(get, port, "/metrics")
            assert 'shoe_connected{device="shoe"} 1.0' in metrics
            assert "shoe_commit_seconds_count" in metrics
            await browser.close()
            assert await rig.stop() == 0
            rig.check()

    asyncio.run(scenario())

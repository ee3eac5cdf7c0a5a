import contextlib
import http.server
import os
import selectors
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

KIOSK = Path(__file__).parents[2] / "systemd" / "kiosk.sh"
DEADLINE = 30


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_args):
        pass


@pytest.fixture
def path(tmp_path):
    """A PATH with the few programs that the script needs, and no browser."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sleep").symlink_to(shutil.which("sleep"))
    program(folder / "python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    return folder


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def browser(path):
    program(path / "chromium", '#!/bin/sh\nprintf "%s\\n" "browser" "$@"\n')
    return path


@contextlib.contextmanager
def start(path, url, tmp_path, **environment):
    with subprocess.Popen(
        ["/bin/sh", str(KIOSK)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": str(path), "KIOSK_URL": url, "RUNTIME_DIRECTORY": str(tmp_path)} | environment,
    ) as kiosk:
        try:
            yield kiosk
        finally:
            kiosk.kill()


def test_the_browser_opens_only_once_the_page_answers(browser, tmp_path):
    server = http.server.HTTPServer(("127.0.0.1", 0), Page, bind_and_activate=False)
    server.server_bind()  # the port is ours, but nobody listens yet
    url = f"http://127.0.0.1:{server.server_port}/"
    with start(browser, url, tmp_path, KIOSK_FLAGS="--one --two") as kiosk:
        with selectors.DefaultSelector() as selector:
            selector.register(kiosk.stderr, selectors.EVENT_READ)
            assert selector.select(DEADLINE), "the script said nothing"
        assert kiosk.stderr.readline() == f"<5>waiting for {url}\n"
        assert kiosk.poll() is None
        server.server_activate()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            out, err = kiosk.communicate(timeout=DEADLINE)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
    assert err == ""
    words = out.split()
    assert words[0] == "browser"
    assert words[-3:] == ["--one", "--two", url]
    assert {"--kiosk", "--incognito", f"--user-data-dir={tmp_path}/browser"} <= set(words)


def test_a_missing_browser_is_a_sentence(path, tmp_path):
    with start(path, "http://127.0.0.1:1/", tmp_path) as kiosk:
        _, err = kiosk.communicate(timeout=DEADLINE)
    assert kiosk.returncode == 1
    assert err == "<3>chromium is not installed: apt install chromium\n"


def test_the_script_can_be_executed():
    assert os.access(KIOSK, os.X_OK)

#!/bin/sh
# Show the table's page full screen: wait until it answers, then become the browser.
set -eu

url=${KIOSK_URL:-http://127.0.0.1:8080/}
profile=${RUNTIME_DIRECTORY:-${XDG_RUNTIME_DIR:-/tmp}}/browser

browser=
for name in chromium chromium-browser; do
    if command -v "$name" >/dev/null; then
        browser=$name
        break
    fi
done
if [ -z "$browser" ]; then
    echo "<3>chromium is not installed: apt install chromium" >&2
    exit 1
fi

# A browser that starts on a page that is not there shows an error page; the page itself heals only once it is loaded.
said=
until python3 - "$url" <<'PYTHON'
import sys
import urllib.request

try:
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1], timeout=3).close()
except OSError:
    sys.exit(1)
PYTHON
do
    [ -n "$said" ] || echo "<5>waiting for $url" >&2
    said=yes
    sleep 1
done

# KIOSK_FLAGS may hold several flags, so it is split on purpose.
# shellcheck disable=SC2086
exec "$browser" --kiosk --incognito --no-first-run --noerrdialogs --disable-infobars \
    --disable-session-crashed-bubble --disable-background-networking --disable-component-update --disable-sync \
    --disable-translate --disable-features=Translate,TranslateUI --disable-pinch --overscroll-history-navigation=0 \
    --password-store=basic --ozone-platform-hint=auto --user-data-dir="$profile" ${KIOSK_FLAGS:-} "$url"

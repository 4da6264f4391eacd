#!/bin/sh
# Opens reports in headless Chromium: run.sh FOLDER REPORT.html... Screenshots and PDFs are kept in FOLDER.
# Installs what is missing: chromium, node and npm by apt-get (as root, or by sudo without a password), playwright-core by npm into FOLDER.
set -eu
folder=$1
shift
here=$(dirname "$0")

install() {
    if [ "$(id -u)" = 0 ]; then as_root=""
    elif sudo -n true 2>/dev/null; then as_root="sudo"
    else
        echo "$* missing; install it (Debian: apt-get install $*), or run this as root once" >&2
        exit 1
    fi
    command -v apt-get >/dev/null || { echo "$* missing, and there is no apt-get to install it with" >&2; exit 1; }
    log=$(mktemp)
    if ! { $as_root apt-get update && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y "$@"; } >"$log" 2>&1; then
        tail -20 "$log" >&2
        exit 1
    fi
    rm -f "$log"
}

find_chromium() {
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome-stable google-chrome; do
        [ -n "$name" ] && command -v "$name" && return 0
    done
    return 1
}

find_chromium >/dev/null || install chromium
chromium=$(find_chromium)
command -v node >/dev/null && command -v npm >/dev/null || install nodejs npm
mkdir -p "$folder"
playwright=1.64.1
if [ ! -e "$folder/node_modules/playwright-core/package.json" ]; then
    npm install --silent --no-audit --no-fund --no-save --prefix "$folder" "playwright-core@$playwright"
fi
# Modules are looked for beside the script that imports them.
cp "$here/check.mjs" "$folder/check.mjs"
exec node "$folder/check.mjs" "$chromium" "$folder" "$@"

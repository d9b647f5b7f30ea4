# Shared by the scripts beside it: sourced, from the top of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2

# stage NAME COMMAND… runs one step, and says which it is and how long it took.
stage() {
  local name=$1 begin=$SECONDS
  shift
  printf '=== %s\n' "$name"
  if "$@"; then
    printf -- '--- ok: %s (%d s)\n' "$name" $((SECONDS - begin))
  else
    local code=$?
    printf -- '--- FAILED: %s (%d s)\n' "$name" $((SECONDS - begin))
    return "$code"
  fi
}

format() {
  local files
  files=$(gofmt -l $(git ls-files -co --exclude-standard '*.go'))
  if [ -n "$files" ]; then
    printf 'not formatted (gofmt -w):\n%s\n' "$files"
    return 1
  fi
}

# The packages that need no browser of their own process tree, and those of tests/ that do.
units() { go list ./... | grep -v '/tests/'; }

# provide installs Debian packages where we may, and says what to install where not.
provide() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
    return
  fi
  printf 'please install: %s (Debian: apt-get install %s)\n' "$*" "$*" >&2
  return 1
}

# browser makes sure that a Chrome-family browser is on PATH.
browser() {
  local name
  for name in "${CHROME:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then return; fi
  done
  provide chromium
}

# modules installs the JavaScript tools that are pinned in tests/js, when they are not there or have changed.
modules() {
  command -v npm >/dev/null || provide nodejs npm || return
  if [ tests/js/package-lock.json -nt tests/js/node_modules/.package-lock.json ]; then
    (cd tests/js && npm ci --no-audit --no-fund --loglevel=error)
  fi
}

types() {
  local config
  for config in extension/jsconfig.json host/browser/js/jsconfig.json; do
    if [ -f "$config" ]; then
      tests/js/node_modules/.bin/tsc --noEmit -p "$config" || return # set -e sleeps inside a stage
    fi
  done
}

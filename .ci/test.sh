#!/usr/bin/env bash
# Everything. A browser runs twice at most at a time, so that two cores are enough.
source "$(dirname "$0")/lib.sh"

race() { go test -race -p 2 -timeout 10m $(units); }
browsers() { go test -p 1 -timeout 12m ./tests/...; }

stage format format
stage vet go vet ./...
stage staticcheck go run "$staticcheck" ./...
stage modules modules
stage types types
stage 'JavaScript tests' npm --prefix tests/js test --silent
stage browser browser
stage 'Go tests, race' race
stage 'tests in the browser' browsers
stage 'cross builds' .ci/cross.sh
printf 'all stages passed in %d s\n' "$SECONDS"

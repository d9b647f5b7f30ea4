#!/usr/bin/env bash
# Every fuzz target for a while: FUZZTIME=60s .ci/fuzz.sh
source "$(dirname "$0")/lib.sh"

for package in $(units); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    stage "$target in ${package#*/*/*/}" go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-10s}" "$package"
  done
done

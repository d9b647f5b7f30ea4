#!/usr/bin/env bash
# The JavaScript side: types and unit tests.
source "$(dirname "$0")/lib.sh"

stage modules modules
stage types types
stage 'JavaScript tests' npm --prefix tests/js test --silent

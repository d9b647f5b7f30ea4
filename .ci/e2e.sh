#!/usr/bin/env bash
# The flows in a real Chromium. Arguments go to go test: .ci/e2e.sh -run TestApproval -v
source "$(dirname "$0")/lib.sh"

stage browser browser
stage 'tests in the browser' go test -p 1 -count 1 -timeout 12m ./tests/e2e "$@"

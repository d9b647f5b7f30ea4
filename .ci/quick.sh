#!/usr/bin/env bash
# What can be told in seconds: format, vet, short tests, and types where the tools are installed.
source "$(dirname "$0")/lib.sh"

short() { go test -short -timeout 60s $(units); }

stage format format
stage vet go vet ./...
stage 'short tests' short
if [ -d tests/js/node_modules ]; then
  stage types types
fi

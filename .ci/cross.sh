#!/usr/bin/env bash
# The binary for the systems we promise and are not on, and vet, tests included: what is compiled for the one serves the other.
source "$(dirname "$0")/lib.sh"

on() { CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go "${@:3}"; }

for target in 'darwin arm64' 'windows amd64'; do
  stage "build $target" on $target build -o /dev/null ./host/cmd/tabvalet
  stage "vet $target" on $target vet ./protocol/... ./host/... ./setup/... ./extension/...
done

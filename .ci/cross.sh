#!/usr/bin/env bash
# The binary for every system we promise, and vet, tests included, for the two we are not on.
source "$(dirname "$0")/lib.sh"

build() { CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build -o /dev/null ./host/cmd/tabvalet; }
vet() { CGO_ENABLED=0 GOOS=$1 GOARCH=arm64 go vet ./protocol/... ./host/... ./setup/... ./extension/...; }

stage 'build linux/arm64' build linux arm64
stage 'build darwin/arm64' build darwin arm64
stage 'build windows/amd64' build windows amd64
stage 'vet darwin' vet darwin
stage 'vet windows' vet windows

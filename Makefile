# What can be done here. The logic is in .ci/*.sh; each target is one line.

.PHONY: build test quick js e2e cases demo bench cross fuzz hooks help

build: ## bin/tabvalet, with the extension inside
	go build -o bin/tabvalet ./host/cmd/tabvalet

test: ## everything, set up by itself: format, vet, staticcheck, race, JavaScript, browser, cross builds
	.ci/test.sh

quick: ## what the pre-commit hook runs, under 15 s
	.ci/quick.sh

js: ## types and unit tests of the extension and the page engine
	.ci/js.sh

e2e: ## the flows in a real Chromium
	.ci/e2e.sh

cases: ## pages that broke other tools, each with its right outcome, in one Chromium
	go run ./tests/cases

demo: ## the main job from connect to verify, with screenshots in out/demo
	go run ./tests/demo

bench: ## side by side with Playwright MCP and chrome-devtools-mcp; writes out/bench/bench.json
	go run ./tests/bench

cross: ## the binary for every system, and vet for those we are not on
	.ci/cross.sh

fuzz: ## every fuzz target for FUZZTIME (10s) each
	.ci/fuzz.sh

hooks: ## enable .githooks in this clone
	git config core.hooksPath .githooks

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## /\1\t/p' Makefile

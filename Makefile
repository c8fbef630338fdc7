# `make` lists the targets; `make check` is what CI runs.

GO ?= go

# Tools run at a fixed version without a trace in go.mod.
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
export GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0

# Packages whose tests take -update, the tests in them that compare with a
# committed file, and where those files are.
GOLDEN_PACKAGES := ./cmd/seawall ./cue/schema ./diff ./reconcile/status ./desired/compile
GOLDEN_TESTS    := TestScript|TestMistakes|Golden|Generated
GOLDEN_FILES    := '*.golden' '*.txtar' '*/calendar.json' docs examples

TEST_TIMEOUT ?= 15m
BENCH        ?= .
ZONES        ?= 100,1000
LATENCY      ?= 0,20ms
ROWS         ?=
SOAK         ?= 30m

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ./seawall, a static binary (the version is the one Go records in it)
	CGO_ENABLED=0 $(GO) build -trimpath -o seawall ./cmd/seawall

.PHONY: demo
demo: ## show what Seawall does, against its own simulator
	$(GO) run ./cmd/seawall demo

.PHONY: test
test: ## run the tests
	$(GO) test -timeout $(TEST_TIMEOUT) ./...

.PHONY: race
race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout $(TEST_TIMEOUT) ./...

.PHONY: bench
bench: build ## measure the program beside a bare client; ZONES=10000 for a large fleet
	$(GO) run ./integration/bench -binary ./seawall -zones $(ZONES) -latency $(LATENCY)

.PHONY: faults
faults: build ## what Seawall does when what it depends on misbehaves; ROWS=git runs some rows
	$(GO) run ./integration/faults -binary ./seawall -only '$(ROWS)'

.PHONY: soak
soak: build ## one daemon for SOAK (30m) through faults that come and go
	$(GO) run ./integration/faults -binary ./seawall -soak $(SOAK)

.PHONY: bench-parts
bench-parts: ## run the Go benchmarks of the parts; BENCH=Plan picks some
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: check
check: fmt vet staticcheck vulncheck race golden layering lint ## all that a change must pass

.PHONY: fmt
fmt: ## fail on files that gofumpt would change
	@out=$$($(GO) run $(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$out" ]; then printf 'not formatted, run "make format":\n%s\n' "$$out"; exit 1; fi

.PHONY: format
format: ## let gofumpt rewrite the files
	$(GO) run $(GOFUMPT) -l -w .

.PHONY: vet
vet: ## go vet
	$(GO) vet ./...

.PHONY: staticcheck
staticcheck: ## staticcheck
	$(GO) run $(STATICCHECK) ./...

.PHONY: vulncheck
vulncheck: ## known vulnerabilities that the code can reach
	@.ci/vulncheck ./...

.PHONY: lint
lint: ## golangci-lint, where it is installed
	@if command -v golangci-lint >/dev/null; then golangci-lint run; \
	else echo 'lint: golangci-lint is not installed; nothing looked at'; fi

.PHONY: layering
layering: ## who may import what, dependencies explained, deploy/ sound
	$(GO) test ./integration -run 'Layering|Dependencies|Deploy|CI'

.PHONY: golden-update
golden-update: ## rewrite golden files from what the code does now
	$(GO) test -count=1 $(GOLDEN_PACKAGES) -run '$(GOLDEN_TESTS)' -update

.PHONY: golden
golden: ## fail when updating would change a golden file
	@.ci/golden $(GOLDEN_FILES)

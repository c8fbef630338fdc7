# `make` lists the targets. CI runs `make tools check race plain`, see .ci/run.

GO ?= go
SHELL := bash

# Tools run at a fixed version without a trace in go.mod.
GOFUMPT  := mvdan.cc/gofumpt@v0.12.0
DEADCODE := golang.org/x/tools/cmd/deadcode@v0.52.0
export GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.8.0
export NFPM := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0
export COSIGN := github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3
GOTESTSUM := gotest.tools/gotestsum@v1.13.0

# golangci-lint takes minutes to build, so `make tools` keeps it outside the tree.
GOLANGCI_LINT_VERSION := v2.15.0
TOOLS         ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/seawall-tools
GOLANGCI_LINT ?= $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint

# Packages whose tests take -update, the tests in them that compare with a
# committed file, and where those files are.
GOLDEN_PACKAGES := ./cmd/seawall ./cue/schema ./diff/radar ./diff/render ./reconcile/status ./desired/compile ./integration/scenarios ./integration/bench
GOLDEN_TESTS    := TestScript|TestScenarios|TestMistakes|Golden|Generated
GOLDEN_FILES    := '*.golden' '*.txtar' '*/calendar.json' docs examples

# Where goroutines meet: the packages that run under the race detector. A test
# compares this with the packages that start goroutines.
RACE := ./reconcile/... ./edge/client ./edge/mem ./edge/sim ./edge/edgetest ./edge/deprecation/scan \
	./desired/gitrepo/gittest ./desired/gitrepo/internal/... ./desired/worker ./cmd/seawall/internal/...

# SQLite is C that was translated into Go, in memory of its own: the detector would look at each
# of its bytes, which costs about half of a test of a ledger, and could find nothing there. Whoever
# calls it is watched, its driver too.
RACING := -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false

# How CI runs tests. One or two that fail run once more, and the summary at the end
# names them: a test that real processes and a busy machine made fail is to be
# mended, but holds nothing up. What a law has found fails again, as it is kept in
# testdata/rapid. A data race is final.
TEST := $(GO) run $(GOTESTSUM) --format=standard-quiet --rerun-fails=1 --rerun-fails-max-failures=2 \
	--rerun-fails-run-root-test --rerun-fails-abort-on-data-race

# "make lint" has go vet, over the tests too.
VETTED := -vet=off

# It bounds what hangs. A package takes a minute or two; on a machine that does
# much else, longer.
TEST_TIMEOUT ?= 30m
BENCH        ?= .
ZONES        ?= 100,1000
LATENCY      ?= 0,20ms
POSTGRES     ?=
REPLICAS     ?= 1
CREDENTIALS  ?= 1
REPEAT       ?= 3
RECORD       ?= integration/bench/record.json
ROWS         ?=
SOAK         ?= 30m
CHECKS       ?= 1000
PACKAGES     ?= ./...
FUZZTIME     ?= 30s
FUZZ         ?= .

# `make release` builds these; VERSION (a tag, v1.2.3) is checked where it is set.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
VERSION   ?=
IMAGE     ?= ghcr.io/seawall-dev/seawall
export GO

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
race: ## run the tests of packages with goroutines under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(TEST) --packages='$(RACE)' -- $(VETTED) $(RACING) -timeout $(TEST_TIMEOUT)

# WAITS waits for three minutes more than it works: it begins first, beside as many others as ever.
# TestChaos goes on for longer than in "go test".
WAITS       := ./integration/chaos
CHAOS_TESTS ?= 2m

.PHONY: plain
plain: ## run the tests of the other packages; with "make race" that is go test ./..., with two minutes of chaos
	@all=$$($(GO) list ./...) && race=$$($(GO) list $(RACE)) && first=$$($(GO) list $(WAITS)) || exit 1; \
	SEAWALL_TEST_CHAOS=$(CHAOS_TESTS) $(TEST) --packages="$$first $$(grep -Fxv "$$race"$$'\n'"$$first" <<<"$$all" | tr '\n' ' ')" -- $(VETTED) -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -timeout $(TEST_TIMEOUT)

.PHONY: real
real: build release-snapshot ## meet real programs: systemd, podman, nginx, OpenSSH, Gitea, Kubernetes, Helm, Terraform, the vendor's Go SDK (all of it as root)
	SEAWALL_TEST_REAL=1 $(GO) test -count=1 -v -timeout 90m ./integration/real
	cd integration/vendorsdk && SEAWALL='$(CURDIR)/seawall' $(GO) test -count=1 -timeout $(TEST_TIMEOUT) ./...

.PHONY: real-programs
real-programs: ## install the programs of Debian or Ubuntu that "make real" meets; it builds the others, once
	@sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; set -x; \
	$$sudo apt-get update && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
		nginx-light fcgiwrap openssh-server etcd-server podman buildah crun

# Debian starts a PostgreSQL of its own with the package; tests start theirs.
.PHONY: postgres-programs
postgres-programs: ## install PostgreSQL and PgBouncer on Debian or Ubuntu, where they are missing: without them their tests are skipped
	@sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; PATH=$$PATH:/usr/sbin; \
	{ command -v initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb'; } >/dev/null && command -v pgbouncer >/dev/null || { set -x; \
	$$sudo apt-get update && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql pgbouncer; }

.PHONY: docs-site
docs-site: ## make the documentation a folder of web pages, dist/site, that needs no server
	$(GO) run ./integration/site -out dist/site

BENCHED = $(GO) run ./integration/bench -binary ./seawall -zones $(ZONES) -latency $(LATENCY) -repeat $(REPEAT) \
	$(if $(POSTGRES),-postgres -replicas $(REPLICAS)) -credentials $(CREDENTIALS)

.PHONY: bench
bench: build ## measure the program beside a bare client, and write the ratios to RECORD; ZONES=10000 for a large fleet, POSTGRES=1 with PostgreSQL, also REPLICAS=3 CREDENTIALS=25
	$(BENCHED) -record '$(RECORD)'

.PHONY: bench-compare
bench-compare: build ## measure the same, and fail where it is worse than the committed RECORD
	$(BENCHED) -compare '$(RECORD)'

.PHONY: faults
faults: build ## what Seawall does when what it depends on misbehaves; ROWS=git runs some rows
	$(GO) run ./integration/faults -binary ./seawall -only '$(ROWS)'

.PHONY: chaos
chaos: CHAOS = 20m
chaos: SEED = 0
chaos: build ## three daemons over one PostgreSQL for CHAOS (20m), killed, paused and cut off at random; SEED=N does the same once more
	$(GO) run ./integration/chaos -binary ./seawall -for $(CHAOS) -seed $(SEED)

.PHONY: soak
soak: soak-tests soak-daemon soak-fleet ## what takes long and is rarely red: the next three

.PHONY: soak-tests
soak-tests: ## run all tests at length and under the race detector, CHECKS (1000) times where chance draws
	SEAWALL_TEST_SOAK=1 SEAWALL_TEST_CHAOS=$(CHAOS_TESTS) RAPID_CHECKS=$(CHECKS) CGO_ENABLED=1 $(GO) test $(RACING) -count=1 -timeout 12h $(PACKAGES)

.PHONY: soak-daemon
soak-daemon: build ## one daemon for SOAK (30m) through faults that come and go
	$(GO) run ./integration/faults -binary ./seawall -soak $(SOAK)

.PHONY: soak-fleet
soak-fleet: SOAK = 10m
soak-fleet: ZONES = 10000
soak-fleet: build ## one daemon for SOAK (10m) over ZONES (10000) zones, with pushes and drift: none becomes slower, nor the daemon larger
	$(GO) run ./integration/faults -binary ./seawall -soak $(SOAK) -zones $(ZONES)

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s); FUZZ=Decode runs those with matching names
	@.ci/fuzz $(FUZZTIME) '$(FUZZ)'

.PHONY: bench-parts
bench-parts: ## run the Go benchmarks of the parts; BENCH=Plan picks some
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: check
check: fmt lint deadcode layering vulncheck ## what a change must pass beside the tests (needs "make tools" once)

.PHONY: fmt
fmt: ## fail on files that gofumpt would change
	@out=$$($(GO) run $(GOFUMPT) -l */) || exit 1; \
	if [ -n "$$out" ]; then printf 'not formatted, run "make format":\n%s\n' "$$out"; exit 1; fi

.PHONY: format
format: ## let gofumpt rewrite the files
	$(GO) run $(GOFUMPT) -l -w */

.PHONY: vulncheck
vulncheck: ## known vulnerabilities that the code can reach; GOVULNDB=file:///srv/vulndb uses that database
	@.ci/vulncheck ./...

.PHONY: lint
lint: ## golangci-lint with go vet, staticcheck and others, as .golangci.yml says; "make tools" installs it
	@if [ ! -x '$(GOLANGCI_LINT)' ]; then \
	echo 'lint: $(GOLANGCI_LINT) is missing; run "make tools"' >&2; exit 1; fi
	$(GOLANGCI_LINT) run

.PHONY: platforms
platforms: ## compile for the systems that releases are built for and the tests do not run on
	@for os in windows darwin; do \
	echo "compiling for $$os"; CGO_ENABLED=0 GOOS=$$os GOARCH=arm64 $(GO) build -o /dev/null ./cmd/seawall || exit 1; done

.PHONY: deadcode
deadcode: ## functions that neither the programs nor the tests reach
	@out=$$($(GO) run $(DEADCODE) -test ./...) || exit 1; \
	if [ -n "$$out" ]; then printf 'not reached from any program or test:\n%s\n' "$$out"; exit 1; fi

.PHONY: tools
tools: ## install golangci-lint into TOOLS, where it is not there yet (takes minutes)
	@if [ ! -x '$(GOLANGCI_LINT)' ]; then set -x; GOBIN='$(dir $(GOLANGCI_LINT))' \
	$(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION); fi

.PHONY: layering
layering: ## which package may import which, and who may read the clock
	$(GO) test ./integration/repository -run Layering

.PHONY: golden-update
golden-update: ## rewrite golden files from what the code does now
	$(GO) test -count=1 $(GOLDEN_PACKAGES) -run '$(GOLDEN_TESTS)' -update

.PHONY: golden
golden: ## of the tests, the other way round: fail when updating would change a golden file
	@.ci/golden $(GOLDEN_FILES)

.PHONY: release
release: ## build the binaries and packages of a release, SBOMs and checksums into dist/; VERSION=v1.2.3 checks the version in them
	@.ci/release '$(VERSION)' $(PLATFORMS)

.PHONY: release-snapshot
release-snapshot: ## build the same for this machine alone, whatever the version
	@.ci/release '' "$$($(GO) env GOOS)/$$($(GO) env GOARCH)"

.PHONY: sign
sign: ## sign dist/SHA256SUMS without a key, as the CI job that runs this
	$(GO) run $(COSIGN) sign-blob --yes --bundle dist/SHA256SUMS.cosign.json dist/SHA256SUMS

.PHONY: image
image: ## build the image IMAGE from the GitHub release VERSION for amd64 and arm64, push it, and sign it as this CI job (needs podman, gh)
	@.ci/image '$(VERSION)' '$(IMAGE)'

.PHONY: publish
publish: ## attach dist/ to the GitHub release VERSION, with its section of CHANGELOG.md (needs gh)
	@.ci/publish '$(VERSION)'

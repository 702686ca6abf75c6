# answerscope: what one does with a checkout. `make` alone lists it.

SHELL := /bin/sh
BIN := bin
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)
GOTESTSUM_VERSION := v1.13.0
GOTESTSUM := $(BIN)/gotestsum-$(GOTESTSUM_VERSION)
PROMTOOL := $(BIN)/promtool

# No cgo: binaries are static, a machine needs no C compiler, and a test binary's link takes a quarter less.
export CGO_ENABLED := 0

include deploy/engine/engine.mk

.DEFAULT_GOAL := help
.PHONY: help build product binary quick test test-all slowest test-crash mutate lint generated generate alerts demo up cluster test-cluster bench sbom clean java browsers test-packages test-all-packages cluster-packages fonts agents crawlers clients page page-packages pictures

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: product ## build bin/answerscope and bin/answerscope-bench, and fetch the engines that they start
	@go build -o $(BIN)/answerscope-bench ./internal/bench

product:
	@$(MAKE) --no-print-directory -j2 engines binary

binary:
	@go generate ./collector/script
	@echo "building $(BIN)/answerscope …" >&2
	@go build -o $(BIN)/answerscope .

# What tests fetch and build, which mostly waits for registries; apt installs before it, one package at a time.
FETCHED := engines agents clients page-packages kafka-apache zookeeper alerts $(GOTESTSUM)

# No vet, which `make lint` has, and no debug information, which takes half the time of a test binary's link.
GO_TEST := -count=1 -vet=off -ldflags='-s -w'
# Packages share one set of engines. Three run at a time, since tests wait for engines; first those that take longest.
SHARED = $(BIN)/serve $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg --jsonfile $(BIN)/$@.json -- \
  $(GO_TEST) -p 3 -parallel 5 -timeout 40m
PKG ?= ./internal/system/dashboard ./internal/system/crash ./queryapi/metrics ./internal/system/... ./pipeline/sink ./pipeline/reconcile ./sql/clickhouse/... ./ingest/tracking ./...

quick: agents page-packages ## test the packages that need no engine, in a minute
	@go test $(GO_TEST) $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.TestImports}} {{.XTestImports}}{{end}}' ./... | \
	  grep -vE 'internal/testkit[] ]' | cut -d ' ' -f 1)

test: test-packages ## prove every feature and promise once, on real engines, in ten minutes; or PKG=./pipeline/sink RUN=Name
	@$(MAKE) --no-print-directory -j4 $(FETCHED)
	@go build -buildvcs=false -ldflags='-s -w' -o $(BIN)/ ./internal/testkit/serve ./internal/system/faulty
	@$(SHARED) $(if $(RUN),-run '$(RUN)') $(PKG)

test-all: test-all-packages ## prove them with many draws, on every layout, browser and release, in an hour (as root)
	@$(MAKE) --no-print-directory -j4 $(FETCHED)
	@go build -buildvcs=false -ldflags='-s -w' -o $(BIN)/ ./internal/testkit/serve ./internal/system/faulty
	@$(SHARED) -tags all $(if $(RUN),-run '$(RUN)') $(PKG)

slowest: $(GOTESTSUM) ## list the ten slowest tests of the last make test
	@$(GOTESTSUM) tool slowest --jsonfile $(BIN)/test.json --threshold 0s --num 10

CRASH_KILLS ?= 110

test-crash: engines cluster-packages kafka-apache zookeeper ## kill everything, everywhere, 224 times under load (as root), kill tracking 40 and deliveries 200 times, cut the power 36 times, call every SQL function, compare 8 random histories of each kind (two and a half hours)
	@mkdir -p $(BIN); log=$(BIN)/test-crash.log; \
	{ ANSWERSCOPE_TEST_KILLS=$(CRASH_KILLS) go test -count=1 -v -timeout 4h -run 'TestKilled(Collector|UnderImport)|TestPowerCuts' ./internal/system/crash && \
	  ANSWERSCOPE_TEST_KILLS=$(CRASH_KILLS) go test -count=1 -timeout 2h -run TestEveryFunction ./sql/clickhouse/schema && \
	  ANSWERSCOPE_TEST_KILLS=40 go test -count=1 -v -timeout 1h -run TestKilledTracking ./internal/system/crash && \
	  ANSWERSCOPE_TEST_KILLS=40 go test -count=1 -timeout 1h -run TestWorkersKilledAtRandom ./ingest/tracking && \
	  ANSWERSCOPE_TEST_KILLS=200 go test -count=1 -timeout 1h -run TestDeliveriesKilled ./pipeline/notify && \
	  ANSWERSCOPE_TEST_KILLS=10 go test -count=1 -timeout 1h -run 'Away$$|TestCorrections' ./pipeline/sink && \
	  ANSWERSCOPE_TEST_KILLS=20 go test -count=1 -timeout 1h -tags all ./internal/testkit/cluster && \
	  go test -count=1 -timeout 1h -tags all -run InAnyNumberOfRuns ./sql/clickhouse/schema && \
	  ANSWERSCOPE_CLUSTER_EACH=5 go test -count=1 -v -timeout 2h -tags all -run TestCluster ./internal/system/crash && \
	  go test -count=1 -timeout 1h -tags all -run TestClusterIsMeasured ./internal/bench && \
	  ANSWERSCOPE_TEST_HISTORIES=8 go test -count=1 -timeout 2h -tags all -run 'TestAnyHistory|PlainestComputation|TwoShards|ItsViewsSay' ./queryapi/metrics && echo passed; } 2>&1 \
	  | tee $$log | grep --line-buffered -oE '(kill|cut) [0-9]+: .*|(kafka|apache) stopped .*|while [a-z]+ was away.*' >&2; \
	if [ "$$(tail -n 1 $$log)" = passed ]; then grep -oE '[0-9]+ (kills|cuts of power), 0 lost, 0 doubled' $$log | tail -n 3; \
	else cat $$log >&2; exit 1; fi

# MUTATE has flags and patterns: MUTATE='-suite quick', MUTATE=--help.
mutate: test-packages ## plant defects in a copy, one at a time, and name those that no test sees (hours)
	@$(MAKE) --no-print-directory -j4 $(FETCHED)
	@go build -ldflags='-s -w' -o $(BIN)/serve ./internal/testkit/serve
	@go build -o $(BIN)/mutate ./internal/testkit/mutate
	@$(BIN)/serve $(BIN)/mutate $(MUTATE)

lint: $(GOLANGCI) page-packages ## check form and habits (.golangci.yml), and the types of the dashboard's sources
	@GOGC=400 GOMEMLIMIT=4GiB $(GOLANGCI) run ./...
	@cd $(PAGE) && node_modules/.bin/tsc --noEmit

# What is generated from sources of the checkout: the pixel's script, the dashboard's bundle, the schema of records.
generated: page-packages ## check that what is generated is up to date
	@before=$$(git diff | $(SHA256)); go generate ./... && [ "$$before" = "$$(git diff | $(SHA256))" ] || \
	  { git diff --stat >&2; echo "generated files were out of date; review and commit them" >&2; exit 1; }

generate: page-packages engines ## renew what is generated, and the golden files that restate the code; review the difference
	@go generate ./...
	@go test -count=1 ./docs -update
	@go test -count=1 ./sql/postgres ./sql/clickhouse/schema ./pipeline/extract -run 'MigrationsStay|Schema|Layout|Version' -update

page: page-packages ## bundle the dashboard, after a change of its sources (queryapi/web/page)
	@cd $(PAGE) && node_modules/.bin/tsc --noEmit
	@go generate ./$(PAGE)

pictures: build browsers fonts ## take the pictures of the dashboard anew (docs/pictures), from the demo's data
	@go run ./docs/pictures $(BIN)/answerscope docs/pictures

alerts: $(PROMTOOL) ## check the alert rules, and that each fires where it should
	@$(PROMTOOL) check rules --lint=all --lint-fatal deploy/alerts.yaml >&2
	@GOGC=400 $(PROMTOOL) test rules deploy/alerts_test.yaml >&2

demo: product ## run everything on ./var with 60 days of simulated answers
	@$(BIN)/answerscope demo

up: product ## run everything on ./var
	@$(BIN)/answerscope all

cluster: product cluster-packages kafka-apache zookeeper ## run everything on a cluster of this machine, as root, and break what you name
	@go build -o $(BIN)/cluster ./internal/testkit/cluster/run && $(BIN)/cluster $(BIN)/answerscope

# How long, and what else one may set: see CONTRIBUTING.md.
ANSWERSCOPE_CLUSTER_FOR ?= 1h
test-cluster: export ANSWERSCOPE_CLUSTER_FOR := $(ANSWERSCOPE_CLUSTER_FOR)
test-cluster: engines cluster-packages kafka-apache zookeeper ## break that cluster at random for an hour under load, as root, and count what was accepted
	@go test -count=1 -v -timeout 0 -tags all -run TestCluster ./internal/system/crash

bench: build java kafka-apache browsers ## measure this machine
	@$(BIN)/answerscope-bench

sbom: binary ## write bin/sbom.cdx.json: what the binary and its engines are made of (CycloneDX)
	@go run ./deploy/sbom $(BIN)/answerscope $(ENGINE_LOCK) >$(BIN)/sbom.cdx.json && echo "$(BIN)/sbom.cdx.json" >&2

clean: ## remove what was built and fetched; ./var stays
	@rm -rf $(BIN) $(ENGINE)/node_modules $(ENGINE)/apache/libs $(ENGINE)/zookeeper/libs $(AGENTS)/node_modules $(CLIENTS)/node_modules $(CLIENTS)/python $(PAGE)/node_modules

# Programs of Debian's packages, as program:package; root installs those that are missing, else the command is printed.
JAVA = java:$(shell apt-cache show openjdk-17-jre-headless >/dev/null 2>&1 && echo openjdk-17-jre-headless || echo default-jre-headless) mvn:maven
CHROMIUM := chromium/chromium-browser/google-chrome:chromium
FIREFOX := firefox-esr/firefox:firefox-esr
PIP := pip:python3-pip
IP := ip:iproute2

define require
	@have() { \
	  case $$1 in \
	    java) [ "$$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')" -ge 17 ] 2>/dev/null;; \
	    pip) python3 -m pip --version >/dev/null 2>&1;; \
	    *) command -v $$1 >/dev/null;; \
	  esac; \
	}; \
	missing=; \
	for needed in $(1); do \
	  for program in $$(echo $${needed%:*} | tr / ' '); do have $$program && continue 2; done; \
	  missing="$$missing $${needed#*:}"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing$$missing …" >&2; \
	  apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >&2 </dev/null; \
	else \
	  echo "Programs are missing. Debian, Ubuntu: sudo apt-get install -y$$missing" >&2; exit 1; \
	fi
endef

java:
	$(call require,$(JAVA))
browsers:
	$(call require,$(CHROMIUM) $(FIREFOX))
test-packages:
	$(call require,$(JAVA) $(PIP) $(CHROMIUM))
test-all-packages:
	$(call require,$(JAVA) $(PIP) $(CHROMIUM) $(FIREFOX) $(IP))
cluster-packages:
	$(call require,$(JAVA) $(IP))

# The list that the bots' patterns come from, for the test that compares them and for its -update.
AGENTS := internal/useragent
agents:
	@if ! cmp -s $(AGENTS)/package-lock.json $(AGENTS)/node_modules/.fetched; then \
	  npm ci --prefix $(AGENTS) --ignore-scripts --no-audit --no-fund --loglevel=error >&2 && \
	  cp $(AGENTS)/package-lock.json $(AGENTS)/node_modules/.fetched; \
	fi

# The table of AI crawlers with those that ROBOTS, the robots.json of ai-robots-txt/ai.robots.txt, lists in addition.
# Review the difference: the list says their purposes in words.
crawlers: agents
	@test -n "$(ROBOTS)" || { echo 'make crawlers ROBOTS=robots.json' >&2; exit 2; }
	@go test -count=1 -run TestCrawlersOfRobots ./$(AGENTS) -update -robots "$(abspath $(ROBOTS))"

# The clients of /auth/v1, /rest/v1 and webhooks that tests drive.
CLIENTS := queryapi/auth/testdata
clients:
	@if ! cmp -s $(CLIENTS)/requirements.txt $(CLIENTS)/python/.fetched; then \
	  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --require-hashes --no-deps --upgrade \
	    --target $(CLIENTS)/python -r $(CLIENTS)/requirements.txt >&2 && \
	  cp $(CLIENTS)/requirements.txt $(CLIENTS)/python/.fetched; \
	fi
	@if ! cmp -s $(CLIENTS)/package-lock.json $(CLIENTS)/node_modules/.fetched; then \
	  npm ci --prefix $(CLIENTS) --ignore-scripts --no-audit --no-fund --loglevel=error >&2 && \
	  cp $(CLIENTS)/package-lock.json $(CLIENTS)/node_modules/.fetched; \
	fi

# The packages that the dashboard imports, and TypeScript and axe-core, which check it.
PAGE := queryapi/web
page-packages:
	@if ! cmp -s $(PAGE)/package-lock.json $(PAGE)/node_modules/.fetched; then \
	  npm ci --prefix $(PAGE) --ignore-scripts --no-audit --no-fund --loglevel=error >&2 && \
	  cp $(PAGE)/package-lock.json $(PAGE)/node_modules/.fetched; \
	fi

# Chinese, Japanese and Korean, for the pictures of the dashboard.
fonts:
	@if fc-list :lang=ja 2>/dev/null | grep -q .; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing a font …" >&2; apt-get update -qq >&2 && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends fontconfig fonts-noto-cjk >&2 </dev/null; \
	else \
	  echo "A font for Japanese is missing. Debian: sudo apt-get install -y fontconfig fonts-noto-cjk" >&2; exit 1; \
	fi

# Built from the Go module proxy, so that everyone lints with the same version.
$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI_VERSION) (once, about a minute) …" >&2
	@GOBIN=$(CURDIR)/$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@mv $(BIN)/golangci-lint $@

# It reports each package when it ends, and at the end how many tests there were, failed and were skipped.
$(GOTESTSUM):
	@echo "building gotestsum $(GOTESTSUM_VERSION) …" >&2
	@GOBIN=$(CURDIR)/$(BIN) go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	@mv $(BIN)/gotestsum $@

# Debian's, of whatever release, or built: in a module of its own, since Prometheus brings two hundred others along.
# Without its service discoveries that is half the work.
$(PROMTOOL): deploy/promtool/go.mod deploy/promtool/go.sum
	@mkdir -p $(BIN)
	@if (cd $(BIN) && apt-get download -qq prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xO ./usr/bin/promtool >promtool) 2>/dev/null; \
	then chmod +x $@; rm -f $(BIN)/prometheus_*.deb; else \
	  echo "building promtool (once, about three minutes) …" >&2; \
	  cd deploy/promtool && go build -tags remove_all_sd -o $(CURDIR)/$@ github.com/prometheus/prometheus/cmd/promtool; \
	fi

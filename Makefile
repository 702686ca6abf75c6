# answerscope: what one does with a checkout. `make` alone lists it.

SHELL := /bin/sh
BIN := bin
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)
GOTESTSUM_VERSION := v1.13.0
GOTESTSUM := $(BIN)/gotestsum-$(GOTESTSUM_VERSION)
PROMTOOL := $(BIN)/promtool

include deploy/engine/engine.mk

.DEFAULT_GOAL := help
.PHONY: help build product binary test test-crash lint alerts demo up cluster test-cluster bench sbom clean java iproute2 browsers fonts agents clients page page-packages pictures

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

# Three packages at a time, since tests wait for engines; first those that take longest. No vet, which `make lint` has,
# and no debug information, which takes half the time of a test binary's link.
test: java browsers ## run every test, on real engines
	@$(MAKE) --no-print-directory -j4 $(FETCHED)
	@go build -ldflags='-s -w' -o $(BIN)/ ./internal/testkit/serve ./internal/system/faulty
	@$(BIN)/serve $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg -- \
	  -count=1 -vet=off -ldflags='-s -w' -p 3 -parallel 5 -timeout 40m ./internal/system/dashboard ./internal/system/crash ./queryapi/metrics ./internal/system/... ./pipeline/sink ./pipeline/reconcile ./sql/clickhouse/... ./ingest/tracking ./internal/testkit/naive ./internal/bench ./ingest/producer ./...

CRASH_KILLS ?= 110

test-crash: engines java kafka-apache zookeeper iproute2 ## kill everything, everywhere, 224 times under load (as root), kill tracking 40 and deliveries 200 times, cut the power 36 times, call every SQL function, compare 8 random histories of each kind (two and a half hours)
	@mkdir -p $(BIN); log=$(BIN)/test-crash.log; \
	{ ANSWERSCOPE_TEST_KILLS=$(CRASH_KILLS) go test -count=1 -v -timeout 4h -run 'TestKilled(Collector|UnderImport)|TestPowerCuts' ./internal/system/crash && \
	  ANSWERSCOPE_TEST_KILLS=$(CRASH_KILLS) go test -count=1 -timeout 2h -run TestEveryFunction ./sql/clickhouse/schema && \
	  ANSWERSCOPE_TEST_KILLS=40 go test -count=1 -v -timeout 1h -run TestKilledTracking ./internal/system/crash && \
	  ANSWERSCOPE_TEST_KILLS=40 go test -count=1 -timeout 1h -run TestWorkersKilledAtRandom ./ingest/tracking && \
	  ANSWERSCOPE_TEST_KILLS=200 go test -count=1 -timeout 1h -run TestDeliveriesKilled ./pipeline/notify && \
	  ANSWERSCOPE_TEST_KILLS=10 go test -count=1 -timeout 1h -run 'Away$$|TestCorrections' ./pipeline/sink && \
	  ANSWERSCOPE_TEST_KILLS=20 go test -count=1 -timeout 1h -tags crash ./internal/testkit/cluster && \
	  go test -count=1 -timeout 1h -tags crash -run InAnyNumberOfRuns ./sql/clickhouse/schema && \
	  ANSWERSCOPE_CLUSTER_EACH=5 go test -count=1 -v -timeout 2h -tags crash -run TestCluster ./internal/system/crash && \
	  go test -count=1 -timeout 1h -tags crash -run TestClusterIsMeasured ./internal/bench && \
	  ANSWERSCOPE_TEST_HISTORIES=8 go test -count=1 -timeout 2h -run 'TestAnyHistory|PlainestComputation|TwoShards|ItsViewsSay' ./queryapi/metrics && echo passed; } 2>&1 \
	  | tee $$log | grep --line-buffered -oE '(kill|cut) [0-9]+: .*|(kafka|apache) stopped .*|while [a-z]+ was away.*' >&2; \
	if [ "$$(tail -n 1 $$log)" = passed ]; then grep -oE '[0-9]+ (kills|cuts of power), 0 lost, 0 doubled' $$log | tail -n 3; \
	else cat $$log >&2; exit 1; fi

lint: $(GOLANGCI) page-packages ## check form and habits (.golangci.yml), and the types of the dashboard's sources
	@GOGC=400 GOMEMLIMIT=4GiB $(GOLANGCI) run ./...
	@cd $(PAGE) && node_modules/.bin/tsc --noEmit

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

cluster: product java kafka-apache zookeeper iproute2 ## run everything on a cluster of this machine, as root, and break what you name
	@go build -o $(BIN)/cluster ./internal/testkit/cluster/run && $(BIN)/cluster $(BIN)/answerscope

# How long, and what else one may set: see CONTRIBUTING.md.
ANSWERSCOPE_CLUSTER_FOR ?= 1h
test-cluster: export ANSWERSCOPE_CLUSTER_FOR := $(ANSWERSCOPE_CLUSTER_FOR)
test-cluster: engines java kafka-apache zookeeper iproute2 ## break that cluster at random for an hour under load, as root, and count what was accepted
	@go test -count=1 -v -timeout 0 -tags crash -run TestCluster ./internal/system/crash

bench: build java kafka-apache browsers ## measure this machine
	@$(BIN)/answerscope-bench

sbom: binary ## write bin/sbom.cdx.json: what the binary and its engines are made of (CycloneDX)
	@go run ./deploy/sbom $(BIN)/answerscope $(ENGINE_LOCK) >$(BIN)/sbom.cdx.json && echo "$(BIN)/sbom.cdx.json" >&2

clean: ## remove what was built and fetched; ./var stays
	@rm -rf $(BIN) $(ENGINE)/node_modules $(ENGINE)/apache/libs $(ENGINE)/zookeeper/libs $(AGENTS)/node_modules $(CLIENTS)/node_modules $(CLIENTS)/python $(PAGE)/node_modules

# Java 17 or later and Maven, for the Apache Kafka of tests and benches; installed if make runs as root.
java:
	@have=$$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'); \
	if [ "$${have:-0}" -ge 17 ] && command -v mvn >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Java and Maven …" >&2; \
	  apt-get update -qq >&2 && \
	  jre=$$(apt-cache show openjdk-17-jre-headless >/dev/null 2>&1 && echo openjdk-17-jre-headless || echo openjdk-21-jre-headless) && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$jre maven >&2 </dev/null; \
	else \
	  echo "Java 17 (or later) or Maven is missing. Debian, Ubuntu: sudo apt-get install -y default-jre-headless maven" >&2; exit 1; \
	fi

# The program ip, for the hosts of a cluster.
iproute2:
	@command -v ip >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends iproute2 >&2 </dev/null; \
	else \
	  echo "The program ip is missing. Debian, Ubuntu: sudo apt-get install -y iproute2" >&2; exit 1; \
	fi

# The list that the bots' patterns come from, for the test that compares them and for its -update.
AGENTS := internal/useragent
agents:
	@if ! cmp -s $(AGENTS)/package-lock.json $(AGENTS)/node_modules/.fetched; then \
	  npm ci --prefix $(AGENTS) --ignore-scripts --no-audit --no-fund --loglevel=error >&2 && \
	  cp $(AGENTS)/package-lock.json $(AGENTS)/node_modules/.fetched; \
	fi

# The clients of /auth/v1, /rest/v1 and webhooks that tests drive.
CLIENTS := queryapi/auth/testdata
clients:
	@if ! cmp -s $(CLIENTS)/requirements.txt $(CLIENTS)/python/.fetched; then \
	  if ! python3 -m pip --version >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pip >&2 </dev/null; \
	  fi; \
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

# Chromium and Firefox, for the tests of the pixel and the dashboard; installed if make runs as root.
browsers:
	@has() { for name in "$$@"; do command -v $$name >/dev/null && return; done; return 1; }; \
	if has chromium chromium-browser google-chrome && has firefox-esr firefox; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Chromium and Firefox …" >&2; \
	  apt-get update -qq >&2 && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium firefox-esr >&2 </dev/null; \
	else \
	  echo "Chromium or Firefox is missing. Debian: sudo apt-get install -y chromium firefox-esr" >&2; exit 1; \
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

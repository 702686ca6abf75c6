package main

import (
	"fmt"
	"slices"
	"strings"
)

// anything lets a tree import every other one.
var anything = []string{"collector", "ingest", "pipeline", "queryapi", "sql", "deploy", "internal"}

// law says, for every tree of this module, which other trees its packages may import. A tree that is not listed is
// new: give it a line, and a reason.
var law = map[string][]string{
	"":          {"internal/cli"}, // main names the command line, nothing else
	"collector": {"ingest/event", "ingest/producer", "sql/postgres", "internal"},
	"ingest":    {"ingest/event", "sql/postgres", "internal"},
	// the contract on the log imports nobody
	"ingest/event": {},
	// it appends what is read again and what is replayed
	"pipeline": {"ingest/event", "ingest/producer", "sql", "internal"},
	// readers never see the log; where a text names whom is said by what counted it, and a mail by its data
	"queryapi": {"sql", "internal", "queryapi/rest", "pipeline/extract", "pipeline/advice",
		"pipeline/notify/feed"},
	// it knows no table of ours, and serves any schema
	"queryapi/rest": {"internal"},
	// connections, rows and questions; cells for verdicts
	"sql/clickhouse": {"internal/verdict", "internal/dialer"},
	// migrations, cluster layout, analysts, whose files survive a loss of power
	"sql/clickhouse/schema": {"sql/clickhouse", "sql/migration", "internal/disk"},
	"sql/clickhouse/rollup": {"sql/clickhouse"}, // rollups compared and rebuilt
	// connections, rows and questions; migrations
	"sql/postgres":  {"sql/migration", "internal/dialer"},
	"sql/migration": {}, // which files made a schema, the same for every store
	// engines know nothing of what they hold; their own files survive a loss of power
	"deploy/engine":    {"internal/disk"},
	"docs/pictures":    {"internal"},                           // a tool of make
	"deploy/sbom":      {},                                     // a tool of make
	"internal":         {},                                     // small shared pieces lean on each other only
	"internal/cli":     anything,                               // the only place where all meet
	"internal/service": anything,                               // it opens every engine for commands and servers
	"internal/demo":    {"ingest", "internal", "sql/postgres"}, // invented facts, made by the simulator
	"internal/bench":   anything,                               // it measures every room from outside
	"internal/system":  anything,                               // it runs answerscope as a person does
	// every figure a second time, from the records alone
	"internal/testkit/naive": {"ingest/event"},
	"internal/testkit":       anything, // it hands tests every engine and its schema
}

// private names the trees that only the given trees may import. Tests may import all.
var private = map[string][]string{
	"internal/cli":           {"", "internal/system"}, // it starts answerscope with a fault point
	"internal/service":       {"internal/cli"},
	"internal/demo":          {"internal/cli", "internal/testkit"}, // no server makes invented facts
	"internal/bench":         {},
	"internal/system":        {},
	"internal/testkit/naive": {},
	// no part of a server starts a browser or an engine of tests
	"internal/testkit": {"internal/bench", "internal/system", "docs/pictures"},
}

// A dependency is a third party's library and the trees that may import it, so that replacing it touches one place.
type dependency struct {
	library string
	trees   []string
	why     string
}

// dependencies lists every third party that the program (not its tests) imports. One that is not listed is new:
// give it its trees, and a reason.
var dependencies = []dependency{
	{"github.com/segmentio/kafka-go",
		[]string{"ingest/producer", "pipeline/consume", "internal/bench", "internal/testkit"},
		"the log's client: one writes, one reads"},
	{"github.com/ClickHouse/clickhouse-go/v2", []string{"sql/clickhouse", "internal/bench", "internal/testkit"},
		"the warehouse's driver"},
	{"github.com/ClickHouse/ch-go", []string{"sql/clickhouse"}, "columns of the warehouse's driver"},
	{"github.com/jackc/pgx/v5",
		[]string{
			"sql/postgres", "queryapi/rest", "deploy/engine", "internal/bench", "internal/system", "internal/testkit",
		}, "the control plane's driver, and that of the databases that /rest/v1 serves"},
	{"github.com/golang-migrate/migrate/v4", []string{"sql/clickhouse"}, "runs the migrations of the warehouse"},
	{"github.com/gofiber/fiber/v2",
		[]string{"internal/httpd", "queryapi", "collector", "ingest/tracking/api", "internal/bench"},
		"public HTTP surfaces"},
	{"github.com/valyala/fasthttp", []string{"internal/httpd", "collector/script", "queryapi/web", "internal/bench"},
		"what fiber runs on: compression, the server's own errors, headers of answers to a bench"},
	{"github.com/andybalholm/brotli", []string{"collector/script"}, "t.js as small as can be, in a window of its size"},
	{"github.com/prometheus/client_golang", []string{"internal", "ingest", "pipeline", "queryapi", "collector"},
		"everything that moves gets a counter"},
	{"github.com/prometheus/procfs", []string{"internal/bench"}, "CPU time of the processes of a cluster"},
	{"go.opentelemetry.io/otel/sdk", []string{"internal/tracing"}, "what keeps spans and sends them on"},
	{"go.opentelemetry.io/otel/exporters", []string{"internal/tracing"}, "OTLP over HTTP"},
	{"go.opentelemetry.io/otel", []string{"internal/tracing", "internal/httpd", "internal/service", "pipeline", "sql"},
		"spans, opened below the one in the context"},
	{"go.opentelemetry.io/proto/otlp", []string{"internal/testkit"}, "what a collector is sent"},
	{"google.golang.org/protobuf", []string{"internal/testkit"}, "the form in which it is sent"},
	{"github.com/coder/websocket", []string{"internal/testkit/browser"}, "what browsers are driven by"},
	{"github.com/hanwen/go-fuse/v2", []string{"internal/testkit"}, "a disk that loses power"},
	{"pgregory.net/rapid", []string{"internal/testkit"}, "random requests, drawn for the tests of two rooms"},
	{"golang.org/x/tools", []string{"internal/testkit"}, "a case of the conformance test, a file each"},
	{"github.com/twmb/franz-go", []string{"deploy/engine"}, "the embedded broker"},
	{"github.com/ebitengine/purego", []string{"deploy/engine"}, "calls the embedded ClickHouse without cgo"},
	{"golang.org/x/sys", []string{"deploy/engine", "internal/httpd", "internal/testkit"},
		"processes, locks and memory of the engines; a look at a client's socket"},
	{"github.com/go-co-op/gocron/v2", []string{"internal/timetable"}, "when a scheduled task is due"},
	{"github.com/alecthomas/kong", []string{"internal/cli", "internal/config", "internal/bench"},
		"flags, their environment and their help"},
	{"github.com/schollz/progressbar/v3", []string{"internal/cli"}, "a bar is shown by the command line alone"},
	{"golang.org/x/term", []string{"internal/cli"}, "is there a terminal to show a bar on, or a password to read"},
	{"github.com/gofrs/uuid/v5", []string{"ingest", "pipeline", "queryapi", "sql", "internal", "collector"},
		"ids, everywhere one type"},
	{"github.com/google/uuid", []string{"sql/clickhouse"}, "the type that the warehouse's driver scans a UUID into"},
	{"github.com/shopspring/decimal", []string{"sql/clickhouse", "pipeline/sink", "internal/testkit"},
		"the type that the warehouse's driver takes a Decimal as"},
	{"github.com/cenkalti/backoff/v5",
		[]string{"deploy/engine", "internal/cli", "internal/lifecycle", "sql/clickhouse"},
		"how long to wait before trying again"},
	{"github.com/go-json-experiment/json", []string{"ingest/event", "ingest/imports", "collector", "queryapi/rest"},
		"strict JSON: the codec of the log, chosen by its benchmark, and keys of objects; encoding/json/v2 of Go 1.27"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"queryapi/mcp"}, "the protocol of AI clients, all revisions"},
	{"github.com/maypok86/otter/v2", []string{"queryapi/metrics"}, "a cache bounded by bytes, for repeated questions"},
	{"golang.org/x/sync", []string{"ingest", "pipeline", "queryapi", "internal", "sql", "deploy/engine"},
		"goroutines that fail together"},
	{"github.com/agnivade/levenshtein", []string{"internal/problem", "pipeline/extract/near"},
		"which variable, parameter or name a misspelt one is near"},
	{"golang.org/x/time",
		[]string{
			"collector", "internal/httpd", "ingest/tracking", "ingest/producer", "pipeline/consume", "internal/tracing",
			"queryapi/auth",
		}, "limits of beacons, of requests, of log lines and of looks for an issuer's keys"},
	{"golang.org/x/text",
		[]string{
			"pipeline/extract", "ingest/event", "ingest/imports", "ingest/tracking", "ingest/platform/capture",
			"internal/testkit/naive",
		}, "folding and normal forms of text; which countries, their names and numbers, " +
			"and which currencies there are"},
	{"golang.org/x/net",
		[]string{
			"pipeline/extract", "pipeline/notify/mail", "ingest/imports", "collector/site", "queryapi/onboard",
			"internal/testkit/naive",
		}, "public suffixes and international host names; HTML"},
	{"github.com/rivo/uniseg", []string{"pipeline/extract", "internal/testkit/naive"},
		"word and sentence boundaries (UAX 29)"},
	{"gonum.org/v1/gonum", []string{"internal/testkit/naive"}, "quantiles of Student's t"},
	{"github.com/jonreiter/govader", []string{"pipeline/extract"},
		"the English sentiment method, named in every reading"},
	{"github.com/CycloneDX/cyclonedx-go", []string{"deploy/sbom"},
		"the form of a bill of materials; no part of the binary"},
	{"github.com/evanw/esbuild", []string{"collector/script/minify", "queryapi/web/bundle"},
		"makes t.js small and the dashboard one file; no part of the binary"},
	{"github.com/jimsmart/grobotstxt", []string{"internal/egress"},
		"which pages a robots.txt lets a program fetch, as Google reads it"},
	{"code.dny.dev/ssrf", []string{"internal/egress"}, "which addresses are public, by IANA's registries"},
	{"github.com/standard-webhooks/standard-webhooks/libraries", []string{"pipeline/notify", "internal/cli"},
		"signatures of webhooks, which the demo verifies"},
	{"github.com/golang-jwt/jwt/v5", []string{"queryapi/auth", "queryapi/rest", "internal/system"},
		"signatures and claims of tokens"},
	{"github.com/coreos/go-oidc/v3", []string{"queryapi/auth"}, "discovery, keys and ID tokens of an OpenID provider"},
	{"golang.org/x/oauth2", []string{"queryapi/auth"}, "codes for tokens, with PKCE"},
	{"github.com/MicahParks/keyfunc/v3", []string{"queryapi/auth"}, "keys that an outside issuer publishes"},
	{"golang.org/x/crypto", []string{"queryapi/auth"}, "argon2id"},
	{"github.com/wagslane/go-password-validator", []string{"queryapi/auth"}, "how easily a password is guessed"},
	{"github.com/dchest/siphash", []string{"collector/visitor"},
		"the keyed hash of visitors; the standard library has none that is as quick on short texts"},
	{"github.com/oschwald/maxminddb-golang/v2", []string{"collector/visitor"}, "which country an address is in"},
	{"github.com/wneessen/go-mail", []string{"pipeline/notify/mail"}, "SMTP and MIME"},
	{"github.com/riverqueue/river", []string{"ingest/tracking", "sql/postgres"},
		"the queue of tracking jobs, on tables of its own in PostgreSQL"},
}

// unlawful names every import of one room by another that the law does not allow.
func unlawful(files []source) []string {
	var broken []string
	for _, f := range files {
		from := owner(f.dir)
		for _, imported := range f.imports {
			pkg, ours := strings.CutPrefix(imported, module+"/")
			if f.test || !ours || owner(pkg) == from {
				continue
			}
			if !slices.ContainsFunc(law[from], func(may string) bool { return within(pkg, may) }) {
				broken = append(broken, fmt.Sprintf("%s: %q must not import %s", f.path, from, pkg))
			}
			if readers, ok := private[owner(pkg)]; ok && !slices.Contains(readers, from) {
				broken = append(broken, fmt.Sprintf("%s: %s is private to %q", f.path, pkg, readers))
			}
		}
	}
	return broken
}

// misplaced names every import of a third party's library outside its trees, and every library that is not listed.
func misplaced(files []source) []string {
	var broken []string
	for _, f := range files {
		for _, imported := range f.imports {
			first, _, _ := strings.Cut(imported, "/")
			if f.test || !strings.Contains(first, ".") || within(imported, module) {
				continue
			}
			i := slices.IndexFunc(dependencies, func(d dependency) bool { return within(imported, d.library) })
			switch {
			case i < 0:
				broken = append(broken, fmt.Sprintf("%s: %s is not listed as a dependency", f.path, imported))
			case !slices.ContainsFunc(dependencies[i].trees, func(tree string) bool { return within(f.dir, tree) }):
				broken = append(broken,
					fmt.Sprintf("%s: %s is for %q only (%s)", f.path, imported, dependencies[i].trees,
						dependencies[i].why))
			}
		}
	}
	return broken
}

// unlisted names every package that no tree of the law holds.
func unlisted(files []source) []string {
	var broken []string
	for _, f := range files {
		if f.dir != "" && owner(f.dir) == "" && !f.test {
			broken = append(broken, fmt.Sprintf("%s: %s is a new tree: give it a line in the law", f.path, f.dir))
		}
	}
	return broken
}

// owner is the longest tree of the law that holds pkg.
func owner(pkg string) string {
	best := ""
	for tree := range law {
		if len(tree) > len(best) && within(pkg, tree) {
			best = tree
		}
	}
	return best
}

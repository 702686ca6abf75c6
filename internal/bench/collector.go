package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/collector"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/postgres"
)

// collecting is how beacons are sent: over how many connections, of how many sites, in how many rounds after how many
// that do not count, and for how long each time. Over few connections most of them wait for the batch under way, and
// the figure is how long a broker takes rather than how much a collector does.
var collecting = struct {
	connections, sites, rounds, warm int
	time                             time.Duration
}{512, 16, 3, 2, 5 * time.Second}

// noLimit is the site limit of a bench, since all its beacons are of a few sites.
const noLimit = 10_000_000

// collectors measures beacons a second that answerscope collector, as a person starts it, answers with 204 because the
// log has them, how long each takes, and the most memory that is resident of it.
//
// Beside it, in every round, its ceilings are measured by the same requests over as many connections. The sender, the
// collector and the ceilings are processes of their own; the embedded broker is in that of the bench.
func collectors(ctx context.Context, o Options, s *stack, r *Result) error {
	c, err := startContest(ctx, s)
	if err != nil {
		return err
	}
	for round := 1 - collecting.warm; round <= collecting.rounds; round++ { // Apache Kafka compiles itself for half a minute
		o.Progress("  round %d of %d", round, collecting.rounds) // 0 and below warm up, and count for nothing
		if err := c.round(ctx, round); err != nil {
			return err
		}
	}
	if err := c.awaitLog(ctx, s.connection); err != nil {
		return err
	}
	for _, result := range c.results {
		slices.Sort(result.Times)
	}
	r.Figures["accepted_per_s"] = c.results[full].accepted()
	r.Figures["half_load_per_s"] = c.results[half].accepted()
	for _, p := range []int{50, 99} {
		r.Figures[fmt.Sprintf("p%d_ms", p)] = percentile(c.results[full].Times, float64(p))
		r.Figures[fmt.Sprintf("p%d_ms_half_load", p)] = percentile(c.results[half].Times, float64(p))
	}
	r.Figures["rss_bytes"] = float64(c.collector.memory())
	for ratio, name := range map[string]string{"ceiling": read, "handler": handler, "naive": naive, "grouped": grouped} {
		r.Ceilings[name+"_per_s"] = c.results[name].accepted()
		r.Ratios[ratio] = r.Figures["accepted_per_s"] / r.Ceilings[name+"_per_s"]
	}
	return nil
}

// What a round measures beside the ceilings: the collector as fast as it can, and at half of that rate.
const (
	full = "collector"
	half = "half load"
)

// A contest is a collector and its ceilings, and requests for them.
type contest struct {
	collector *child
	addresses map[string]string // of the collector and of the ceilings
	requests  [][]byte
	results   map[string]*loadResult // of the rounds that count
	accepted  int64                  // beacons that the collector has answered with 204, of all rounds
}

// startContest starts a collector and its ceilings.
func startContest(ctx context.Context, s *stack) (*contest, error) {
	const plain = "plain."
	if err := s.createTopics(ctx, plain); err != nil {
		return nil, err
	}
	requests, err := beacons(ctx, s, collecting.sites)
	if err != nil {
		return nil, err
	}
	c := &contest{requests: requests, results: map[string]*loadResult{}}
	for _, name := range []string{full, half, read, handler, naive, grouped} {
		c.results[name] = &loadResult{Statuses: map[int]int64{}}
	}
	cmd, err := partOf(ctx, "ceilings", ceilings{Postgres: s.postgres, Brokers: s.connection.Brokers, Prefix: plain, Dir: s.dir})
	if err != nil {
		return nil, err
	}
	_, line, err := s.startReady(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(line), &c.addresses); err != nil {
		return nil, fmt.Errorf("read addresses of ceilings %q: %w", line, err)
	}
	cmd, err = answerscope(ctx, []string{
		"ANSWERSCOPE_POSTGRES_DSN=" + s.postgres, "ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(s.connection.Brokers, ","),
		"ANSWERSCOPE_DATA_DIR=" + filepath.Join(s.dir, "collector"), "ANSWERSCOPE_SITE_LIMIT=" + strconv.Itoa(noLimit),
	}, "collector", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c.collector, line, err = s.startReady(ctx, cmd)
	c.addresses[full] = strings.TrimPrefix(line, "ready http://")
	return c, err
}

// round measures each once, in another order than the round before, and the collector at half of what it has just
// accepted. Results of round 0 and those before are dropped.
func (c *contest) round(ctx context.Context, round int) error {
	each := []string{full, read, handler, naive, grouped}
	for i := range each {
		name := each[(i+round+collecting.warm)%len(each)]
		result, err := c.measure(ctx, round, name, name, 0)
		if err != nil {
			return err
		}
		if name == full {
			if _, err := c.measure(ctx, round, half, full, result.accepted()/2); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure runs a load at the address of a name, and adds what came back to a result.
func (c *contest) measure(ctx context.Context, round int, to, name string, rate float64) (loadResult, error) {
	result, err := sendLoad(ctx, loadPlan{
		Address: c.addresses[name], Requests: c.requests, Connections: collecting.connections, Rate: rate, Time: collecting.time,
	})
	if err != nil {
		return result, fmt.Errorf("measure %s: %w", name, err)
	}
	if name == full {
		c.accepted += result.Statuses[http.StatusNoContent]
	}
	if round > 0 {
		c.results[to].add(&result)
		c.results[to].Took += result.Took
	}
	return result, nil
}

// sendLoad runs a plan in a process of its own, since it takes as much of the machine as the server lets it. Every
// request must be accepted.
func sendLoad(ctx context.Context, plan loadPlan) (result loadResult, err error) {
	cmd, err := partOf(ctx, "load", plan)
	if err != nil {
		return result, err
	}
	err = outputOf(ctx, cmd, &result)
	if err == nil {
		err = result.onlyAccepted()
	}
	return result, err
}

// awaitLog waits until the log has a visit of each beacon that was accepted: those that the collector had on its own
// disk for a moment come later, and one that was dropped would never.
func (c *contest) awaitLog(ctx context.Context, connection producer.Connection) error {
	var n int64
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := poll(limited, 50*time.Millisecond, func() (bool, error) {
		partitions, err := consume.Positions(limited, connection, "bench", event.TopicVisits)
		n = 0
		for _, partition := range partitions {
			n += partition.End
		}
		return n >= c.accepted, err
	})
	if err != nil {
		return fmt.Errorf("%d beacons were answered with 204, and the log has %d visits: %w", c.accepted, n, err)
	}
	return nil
}

// beacons creates brands, and makes the request in which a browser reports a visit to the site of each.
func beacons(ctx context.Context, s *stack, sites int) ([][]byte, error) {
	db, err := s.openPostgres(ctx)
	if err != nil {
		return nil, err
	}
	organization, err := db.AddOrganization(ctx, "Bench", "bench")
	if err != nil {
		return nil, err
	}
	var requests [][]byte
	for i := range sites {
		slug := fmt.Sprintf("brand-%02d", i)
		made, _, err := db.AddBrand(ctx, organization.ID, postgres.NewBrand{Name: slug, Slug: slug, Domains: []string{slug + ".example"}})
		if err != nil {
			return nil, err
		}
		site := "https://www." + slug + ".example"
		body := fmt.Sprintf(`{"b":"%s","u":"%s/shop/espresso-machines?utm_source=chatgpt.com","r":"https://chatgpt.com/","i":"chatgpt0.%016d",`+
			`"n":1,"s":"chatgpt","l":"en-US","d":"1920x1080","z":"Europe/Berlin"}`, made.ID, site, i*7919)
		requests = append(requests, beacon(site, body))
	}
	return requests, nil
}

// beacon is a request as Chromium sends it for navigator.sendBeacon.
func beacon(site, body string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: collect.answerscope.example\r\nConnection: keep-alive\r\nContent-Length: %d\r\n", collector.Path, len(body))
	for _, header := range []string{
		`sec-ch-ua-platform: "Windows"`,
		"User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36",
		`sec-ch-ua: "Chromium";v="150", "Google Chrome";v="150", "Not)A;Brand";v="24"`,
		"Content-Type: text/plain;charset=UTF-8", "sec-ch-ua-mobile: ?0", "Accept: */*", "Origin: " + site, "Sec-Fetch-Site: cross-site",
		"Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: empty", "Referer: " + site + "/", "Accept-Encoding: gzip, deflate, br, zstd", "Accept-Language: en-US,en;q=0.9",
	} {
		b.WriteString(header + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

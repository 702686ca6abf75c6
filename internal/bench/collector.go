package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/collector"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/sql/postgres"
)

// collecting is how beacons are sent: over how many connections, of how many sites, how often, after how many times that
// do not count, and for how long each time. Over few connections most of them wait for the batch under way, and what is
// measured is how long a broker takes rather than how much a collector does.
var collecting = struct {
	connections, sites, rounds, warm int
	time                             time.Duration
}{512, 16, 3, 2, 5 * time.Second}

// noLimit is the site limit of a bench, since all its beacons are of a few sites.
const noLimit = 10_000_000

// collectors measures beacons a second that answerscope collector, as anybody starts it, answers with 204 because the
// log has them, how long each takes, and the most memory that is resident of it.
//
// Beside it, in every round, by the same requests over as many connections: a fiber handler that reads the body and
// answers 204; the collector's handler without its append; that handler with one synchronous write of kafka-go a
// request; and with one that kafka-go groups with others. What sends, the collector, and what it is held against are processes of their own; the embedded broker is
// in that of the bench.
func collectors(ctx context.Context, o Options) (_ Result, err error) {
	r := Result{Figures: map[string]float64{}, Ceilings: map[string]float64{}, Ratios: map[string]float64{}}
	l, err := emptyLaboratory()
	if err != nil {
		return r, err
	}
	defer l.close()
	a, err := l.startContest(ctx, o.Broker)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	all := map[string]*loadResult{}
	for round := 1 - collecting.warm; round <= collecting.rounds; round++ { // Apache Kafka compiles itself for half a minute
		o.tell("  round %d of %d", round, collecting.rounds) // 0 and below warm up, and count for nothing
		if err := a.round(ctx, round, all); err != nil {
			return r, err
		}
	}
	if err := a.onTheLog(ctx); err != nil {
		return r, err
	}
	full, half := all[full], all[half]
	r.Figures["accepted_per_s"] = full.accepted()
	r.Figures["half_load_per_s"] = half.accepted()
	for _, p := range []int{50, 99} {
		r.Figures[fmt.Sprintf("p%d_ms", p)] = full.Times.percentile(float64(p))
		r.Figures[fmt.Sprintf("p%d_ms_half_load", p)] = half.Times.percentile(float64(p))
	}
	r.Figures["rss_bytes"] = float64(a.collector.memory())
	for ratio, name := range map[string]string{"ceiling": read, "handler": handler, "naive": naive, "grouped": grouped} {
		r.Ceilings[name+"_per_s"] = all[name].accepted()
		r.Ratios[ratio] = r.Figures["accepted_per_s"] / r.Ceilings[name+"_per_s"]
	}
	return r, nil
}

// What is measured in a round.
const (
	full    = "collector"
	half    = "half load"
	read    = "read"
	handler = "handler"
	naive   = "naive"
	grouped = "grouped"
)

// An arena is a collector with what it is held against, and requests for them.
type arena struct {
	connection producer.Connection
	collector  *child
	ceilings   *child
	addresses  map[string]string // of each but half
	requests   [][]byte
	accepted   int64 // beacons that the collector has answered with 204, of all rounds
}

// startContest starts engines, a collector, and its ceilings.
func (l *laboratory) startContest(ctx context.Context, broker string) (_ *arena, err error) {
	if err := l.startBroker(ctx, broker); err != nil {
		return nil, err
	}
	const plain = "plain."
	if err := l.createTopics(ctx, plain); err != nil {
		return nil, err
	}
	db, err := l.startPostgres(ctx)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	a := &arena{connection: l.connection, addresses: map[string]string{}}
	if a.requests, err = beacons(ctx, db, collecting.sites); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.stop())
		}
	}()
	if err := a.startCollector(ctx, l); err != nil {
		return nil, err
	}
	return a, a.startCeilings(ctx, ceilingsAsked{l.control, l.connection.Brokers, plain, l.dir})
}

func (a *arena) startCollector(ctx context.Context, l *laboratory) error {
	cmd, err := answerscope(ctx, []string{
		"ANSWERSCOPE_POSTGRES_DSN=" + l.control, "ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(l.connection.Brokers, ","),
		"ANSWERSCOPE_DATA_DIR=" + filepath.Join(l.dir, "collector"), "ANSWERSCOPE_SITE_LIMIT=" + strconv.Itoa(noLimit),
	}, "collector", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var line string
	if a.collector, line, err = startTelling(ctx, cmd); err != nil {
		return err
	}
	a.addresses[full] = strings.TrimPrefix(line, "ready http://")
	return nil
}

func (a *arena) startCeilings(ctx context.Context, asked ceilingsAsked) error {
	cmd, err := answerscope(ctx, nil, "bench", "--part", "ceilings")
	if err != nil {
		return err
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return fmt.Errorf("ask for ceilings: %w", err)
	}
	in, err := cmd.StdinPipe() // stays open: its end is theirs
	if err != nil {
		return fmt.Errorf("ask for ceilings: %w", err)
	}
	go func() { _, _ = in.Write(text) }() // a process that has ended says why itself
	var line string
	if a.ceilings, line, err = startTelling(ctx, cmd); err != nil {
		return err
	}
	var at ceilingsAt
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		return fmt.Errorf("read addresses of ceilings %q: %w", line, err)
	}
	a.addresses[read], a.addresses[handler], a.addresses[naive], a.addresses[grouped] = at.Read, at.Handler, at.Naive, at.Grouped
	return nil
}

// startTelling starts a command and returns the first line that it tells.
func startTelling(ctx context.Context, cmd *exec.Cmd) (*child, string, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", fmt.Errorf("start %s: %w", cmd.Args[1], err)
	}
	c, err := startChild(cmd, nil)
	if err != nil {
		return nil, "", err
	}
	told := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		told <- strings.TrimSpace(line)
	}()
	select {
	case line := <-told:
		if line != "" {
			return c, line, nil
		}
		<-c.ended
		return c, "", fmt.Errorf("%s ended before it was ready:\n%s", c.name, c.last())
	case <-time.After(time.Minute):
		err = errors.New("after a minute")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return c, "", errors.Join(fmt.Errorf("%s is not ready: %w:\n%s", c.name, err, c.last()), c.stop())
}

// stop ends the processes that were started.
func (a *arena) stop() error {
	var errs []error
	for _, c := range []*child{a.collector, a.ceilings} {
		if c == nil {
			continue
		}
		select {
		case <-c.ended:
		default:
			errs = append(errs, c.stop())
		}
	}
	return errors.Join(errs...)
}

// round measures each once, in another order than the round before, and the collector at half of what it has just
// taken. What came of round 0 and those before is not kept.
func (a *arena) round(ctx context.Context, round int, all map[string]*loadResult) error {
	each := []string{full, read, handler, naive, grouped}
	for i := range each {
		name := each[(i+round+collecting.warm)%len(each)]
		result, err := a.measure(ctx, name, 0)
		if err != nil {
			return err
		}
		results := map[string]loadResult{name: result}
		if name == full {
			if results[half], err = a.measure(ctx, full, result.accepted()/2); err != nil {
				return err
			}
		}
		for name, result := range results {
			if round <= 0 {
				continue
			}
			if all[name] == nil {
				all[name] = &loadResult{Statuses: map[int]int64{}}
			}
			all[name].add(&result)
			all[name].Took += result.Took
		}
	}
	return nil
}

func (a *arena) measure(ctx context.Context, name string, rate float64) (loadResult, error) {
	plan := loadPlan{Address: a.addresses[name], Requests: a.requests, Connections: collecting.connections, Rate: rate, Time: collecting.time}
	result, err := plan.apart(ctx)
	if err == nil {
		err = result.onlyAccepted()
	}
	if err != nil {
		return result, fmt.Errorf("measure %s: %w", name, err)
	}
	if name == full {
		a.accepted += result.Statuses[http.StatusNoContent]
	}
	return result, nil
}

// onTheLog waits until the log has a visit of each beacon that was accepted: those that the collector had on its own
// disk for a moment come later, and one that was dropped would never.
func (a *arena) onTheLog(ctx context.Context) error {
	transport, err := a.connection.Transport(event.TopicVisits)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: a.connection.Address(), Transport: transport}
	var ends []kafka.OffsetRequest
	for partition := range producer.DefaultTopicsConfig().Partitions {
		ends = append(ends, kafka.LastOffsetOf(partition))
	}
	look, late := time.NewTicker(50*time.Millisecond), time.After(time.Minute)
	defer look.Stop()
	for {
		found, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{event.TopicVisits: ends}})
		if err != nil {
			return fmt.Errorf("read the ends of visits: %w", err)
		}
		var n int64
		for _, partition := range found.Topics[event.TopicVisits] {
			n += partition.LastOffset
		}
		if n >= a.accepted {
			return nil
		}
		select {
		case <-look.C:
		case <-late:
			return fmt.Errorf("%d beacons were answered with 204, and the log has %d visits", a.accepted, n)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// beacons makes brands, and the request in which a browser tells of a visit to the site of each.
func beacons(ctx context.Context, db *postgres.DB, sites int) ([][]byte, error) {
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

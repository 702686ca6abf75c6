package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// From the page to the figure: what was answered 204 and not said to be dropped is counted once, whatever a stop cuts
// short, and nothing else is.
func TestABeaconIsAFigure(t *testing.T) {
	t.Parallel()
	h := run.Installed(t, "ANSWERSCOPE_SITE_LIMIT=100000")
	brand := h.AddBrands(t, h.Organization.ID, run.BrandsFile)
	first := run.BeaconOf(brand, "/a?utm_source=chatgpt.com", `,"n":1,"z":"Europe/Paris"`)
	wait.For(t, "the brand's domain to be known", func() bool {
		status, _ := run.Post(t, h.URL, first)
		return status == 204
	})
	for body, headers := range map[string][]string{
		run.BeaconOf(brand, "/b", `,"s":"chatgpt"`):                                                              nil,
		run.BeaconOf(brand, "/b", `,"s":"chatgpt","e":"goal","g":{"name":"buy","value":20.25,"currency":"EUR"}`): nil,
		run.BeaconOf(brand, "/reset/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ.sQqXgZ8/new", `,"s":"chatgpt"`):      nil,
		// no platform sent it
		run.BeaconOf(brand, "/c", `,"n":1`):                        nil,
		run.BeaconOf(brand, "/d?utm_source=chatgpt.com", `,"n":1`): {"Origin: https://acme.example.evil.example"},
		run.BeaconOf(brand, "/e?utm_source=chatgpt.com", `,"n":1`): {"User-Agent: GPTBot/1.2"},
	} {
		run.Post(t, h.URL, body, headers...)
	}
	counted := func(url string) (got run.Traffic) {
		_, body := run.Fetch(t, url+"/api/v1/ai-traffic?brand_id="+brand, h.Key)
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := run.Traffic{Visits: 3, Sessions: 1,
		Goals:    []run.Reached{{Name: "buy", Count: 1, Value: "20.25", Currency: "EUR"}},
		TopPages: []run.Viewed{{URL: "/a", Visits: 1}, {URL: "/b", Visits: 1}, {URL: "/reset/{masked}/new", Visits: 1}}}
	wait.For(t, "three views and a goal to be counted", func() bool { return reflect.DeepEqual(counted(h.URL), want) })

	accepted := 3 + beaconsUntilStopped(t, h, first)
	h.Start(t)
	wait.For(t, fmt.Sprintf("%d visits to be counted", accepted), func() bool {
		return counted(h.URL).Visits >= accepted
	})
	if got := counted(h.URL).Visits; got != accepted {
		t.Errorf("%d visits, want %d", got, accepted)
	}
}

// beaconsUntilStopped sends beacons, and SIGTERM amidst them, and returns how many were accepted.
func beaconsUntilStopped(t *testing.T, h *run.Installation, body string) int {
	t.Helper()
	var accepted atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for {
				switch status, _ := run.Post(t, h.URL, body); status {
				case 204:
					accepted.Add(1)
				case 503: // not counted
				default:
					return
				}
			}
		})
	}
	wait.For(t, "beacons to be accepted", func() bool { return accepted.Load() > 200 })
	if status := h.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("all ended with status %d", status)
	}
	clients.Wait()
	return int(accepted.Load())
}

// The collector alone starts and accepts while neither Kafka nor PostgreSQL is there, is killed, and forgets nothing.
func TestTheCollectorStartsAlone(t *testing.T) {
	t.Parallel()
	brokers, prefix := testkit.Kafka(t), testkit.Prefix(t)
	topics := producer.DefaultTopicsConfig()
	topics.Brokers, topics.Prefix, topics.Partitions = brokers, prefix, 3
	if _, err := producer.CreateTopics(t.Context(), topics); err != nil {
		t.Fatal(err)
	}
	control := store.ControlPlane(t)
	brand := acmeOf(t, control)
	here := []string{"ANSWERSCOPE_DATA_DIR=" + run.DataDir(t), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + prefix}
	with := append(here[:2:2], "ANSWERSCOPE_POSTGRES_DSN="+control.DSN,
		"ANSWERSCOPE_KAFKA_BROKERS="+strings.Join(brokers, ","))
	without := append(here[:2:2], "ANSWERSCOPE_POSTGRES_DSN=postgres://app:secret@127.0.0.1:1/none",
		"ANSWERSCOPE_KAFKA_BROKERS=127.0.0.1:1")
	view := run.BeaconOf(brand, "/a?utm_source=chatgpt.com", `,"n":1`)
	send := func(s *run.Server, n int) {
		t.Helper()
		for range n {
			if status, _ := run.Post(t, s.URL, view); status != 204 {
				t.Fatalf("status %d, want 204", status)
			}
		}
	}

	// Without PostgreSQL ever seen there is no site, and it says so instead of refusing.
	unready := run.Launch(t, without, "collector")
	wait.For(t, "the collector to listen", func() bool {
		return strings.Contains(unready.Log.String(), "admin listener")
	})
	wait.Until(t, func() string {
		status, body := run.Fetch(t, unready.Admin(t)+"/readyz", "")
		if status == 503 && strings.Contains(body, `"sites"`) {
			return ""
		}
		return fmt.Sprintf("readyz is %d %s, want 503 because of the sites", status, body)
	})
	unready.Stop(t, syscall.SIGTERM)

	s := run.Serve(t, with, "collector")
	send(s, 1)
	if status := s.Stop(t, syscall.SIGTERM); status != run.ExitDone {
		t.Errorf("status %d", status)
	}
	s = run.Serve(t, without, "collector")
	send(s, 20)
	many := "[" + strings.TrimSuffix(strings.Repeat(view+",", 50), ",") + "]"
	if status, _ := run.Post(t, s.URL, many); status != 204 {
		t.Errorf("an array: %d", status)
	}
	s.Stop(t, syscall.SIGKILL)
	s = run.Serve(t, with, "collector")
	send(s, 1)
	wait.For(t, "72 visits on the log", func() bool {
		return len(visitsOn(t, brokers, prefix+event.TopicVisits, 3)) >= 72
	})
	if n := len(visitsOn(t, brokers, prefix+event.TopicVisits, 3)); n != 72 {
		t.Errorf("%d visits are on the log, want 72", n)
	}
	if strings.Contains(s.Log.String(), "secret") {
		t.Error("the log shows a password")
	}
}

// acmeOf makes the brand whose site is acme.example.
func acmeOf(t *testing.T, control postgres.Config) (id string) {
	t.Helper()
	db := store.OpenControlPlane(t, control)
	o, err := db.AddOrganization(t.Context(), "Acme", "acme")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := db.AddBrand(t.Context(), o.ID, postgres.NewBrand{Name: "Acme", Domains: []string{"acme.example"}})
	if err != nil {
		t.Fatal(err)
	}
	return b.ID.String()
}

// visitsOn are the ids of the visits on a topic.
func visitsOn(t *testing.T, brokers []string, topic string, partitions int) map[uuid.UUID]bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), run.Timeout)
	defer cancel()
	found := map[uuid.UUID]bool{}
	for partition := range partitions {
		conn, err := kafka.DialLeader(ctx, "tcp", brokers[0], topic, partition)
		if err != nil {
			t.Fatal(err)
		}
		last, err := conn.ReadLastOffset()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		reader := kafka.NewReader(kafka.ReaderConfig{
			Brokers: brokers, Topic: topic, Partition: partition, MaxWait: 50 * time.Millisecond,
		})
		for at := int64(-1); at < last-1; {
			m, err := reader.ReadMessage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			var v event.Visit
			if err := event.DecodeVisit(m.Value, &v); err != nil {
				t.Fatal(err)
			}
			at, found[v.ID] = m.Offset, true
		}
		reader.Close()
	}
	return found
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
)

// visits makes one visit of each brand's site for every line from one to another:
// the same ones each time.
func (k *killing) visits(t *testing.T, from, to int) []producer.Record {
	t.Helper()
	var records []producer.Record
	for n := from; n < to; n++ {
		for _, id := range k.brands {
			at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
			brand := uuid.Must(uuid.FromString(id))
			value, err := event.EncodeVisit(nil, &event.Visit{
				V: event.Version, ID: event.RunID(event.Identity{BrandID: brand, Sample: int64(n), Due: at}), OrganizationID: k.organization, BrandID: brand,
				At: event.At(at), Event: event.VisitView, Platform: "chatgpt", Host: "lamp.example", Path: "/",
			})
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, producer.Record{Key: event.AnswerKey(brand), Value: value})
		}
	}
	return records
}

// tell appends records in portions until ctx ends.
func (k *killing) tell(ctx context.Context, t *testing.T, records []producer.Record) error {
	t.Helper()
	cfg := producer.DefaultConfig()
	cfg.Brokers = k.brokers
	if cfg.Brokers == nil {
		set, err := engine.Open(t.Context(), engine.Options{DataDir: strings.TrimPrefix(k.env[0], "ANSWERSCOPE_DATA_DIR="), Kafka: true, Owner: "test", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer func() { _ = set.Stop(context.Background()) }() // whose engines were killed meanwhile
		cfg.Brokers = set.Kafka()
	}
	cfg.AttemptTimeout, cfg.AckTimeout = time.Second, 3*time.Second
	log, err := producer.New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan error, 1)
	go func() { stopped <- log.Run(running) }()
	for portion := range slices.Chunk(records, 60) {
		if _, err = log.AppendAll(ctx, event.TopicVisits, portion); err != nil {
			break
		}
	}
	stop()
	return errors.Join(err, <-stopped)
}

// telling tells the visits of this round and the last one beside an import,
// until end; what a kill cuts off is told again.
func (k *killing) telling(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	records := k.visits(t, max(0, k.lines-2*linesARound), k.lines)
	told := make(chan struct{})
	go func() {
		defer close(told)
		_ = k.tell(ctx, t, records) // the broker is killed under it
	}()
	return func() { cancel(); <-told }
}

// tellAll tells every visit so far.
func (k *killing) tellAll(t *testing.T) {
	t.Helper()
	if err := k.tell(t.Context(), t, k.visits(t, 0, k.lines)); err != nil {
		t.Fatal(err)
	}
}

// organizationOf asks for whom a key speaks.
func organizationOf(t *testing.T, s *server, key string) uuid.UUID {
	t.Helper()
	var who struct {
		OrganizationID uuid.UUID `json:"organizationId"`
	}
	_, body := fetch(t, s.url+"/api/v1/whoami", key)
	if err := json.Unmarshal([]byte(body), &who); err != nil {
		t.Fatal(body, err)
	}
	return who.OrganizationID
}

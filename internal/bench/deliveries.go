package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/sql/postgres"
)

// delivering is how many endpoints answer at once, and beside them how many hang for how long, with how many deliveries
// that are due; and how many changes, at which pace, cause the events that are measured.
var delivering = struct {
	answering, hanging, pending int // endpoints are in organizations of ten
	hang                        time.Duration
	rounds, changes             int
	pace                        time.Duration
}{500, 500, 100_000, time.Minute, 5, 40, 100 * time.Millisecond}

const (
	endpointsOfOne = 10 // which each event goes to
	ringOfBench    = "bench:YmVuY2hiZW5jaGJlbmNoYmVuY2hiZW5jaGJlbmNoISE="
	secretOfBench  = "whsec_YmVuY2hiZW5jaGJlbmNoYmVuY2hiZW5jaGJlbmNo" //nolint:gosec // of the bench's own receivers
)

// measureDeliveries measures how long after its event an endpoint that answers at once is served while others hang, the
// memory that this takes, and how much longer a change takes for its event. Its ceilings are the same before anything
// hangs or is pending, and a change without its event. The worker is a process of its own; the receivers, over TLS, are
// in that of the bench.
func measureDeliveries(ctx context.Context, o Options, s *stack, r *Result) error {
	db, err := s.openPostgres(ctx)
	if err != nil {
		return err
	}
	c := changes{db: db, receivers: &receivers{}}
	server := httptest.NewTLSServer(c.receivers)
	s.onClose(func(context.Context) error { server.Close(); return nil })
	if c.organizations, err = addEndpoints(ctx, db, 0, delivering.answering, server.URL); err != nil {
		return err
	}
	cmd, err := partOf(ctx, "deliveries", notifier{s.postgres, server.Certificate().Raw})
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "GODEBUG=x509usefallbackroots=1")
	worker, _, err := s.startReady(ctx, cmd)
	if err != nil {
		return err
	}
	ctx, done := worker.whileRunning(ctx)
	defer done()
	alone, _, _, err := c.measure(ctx)
	if err != nil {
		return err
	}
	memory := worker.memory()
	o.Progress("  %d deliveries to endpoints that hang", delivering.pending)
	if err := c.letHang(ctx, server.URL+hanging); err != nil {
		return err
	}
	served, with, without, err := c.measure(ctx)
	if err != nil {
		return err
	}
	r.Figures["served_p50_ms"], r.Figures["served_p99_ms"] = percentile(served, 50), percentile(served, 99)
	r.Figures["served_max_ms"], r.Figures["change_p50_ms"] = percentile(served, 100), percentile(with, 50)
	r.Figures["rss_bytes"] = float64(worker.memory())
	r.Ceilings["served_alone_p99_ms"], r.Ceilings["change_without_p50_ms"] = percentile(alone, 99), percentile(without, 50)
	r.Ceilings["rss_alone_bytes"] = float64(memory)
	r.Ratios["served_p99"] = r.Figures["served_p99_ms"] / r.Ceilings["served_alone_p99_ms"]
	r.Ratios["change_p50"] = r.Figures["change_p50_ms"] / r.Ceilings["change_without_p50_ms"]
	r.Ratios["rss"] = r.Figures["rss_bytes"] / r.Ceilings["rss_alone_bytes"]
	r.Lines = append(r.Lines,
		fmt.Sprintf("served %8.0f ms after its event (p50), %.0f (p99), %.0f at most; while nothing hangs %.0f (p99)",
			r.Figures["served_p50_ms"], r.Figures["served_p99_ms"], r.Figures["served_max_ms"], percentile(alone, 99)),
		fmt.Sprintf("change %8.2f ms with its event (p50), %.2f without", percentile(with, 50), percentile(without, 50)),
		fmt.Sprintf("rss    %8.0f MB, %.0f while nothing hangs", r.Figures["rss_bytes"]/1e6, float64(memory)/1e6))
	return nil
}

// addEndpoints adds organizations, the first of which has a number, with n endpoints and a member each.
func addEndpoints(
	ctx context.Context, db *postgres.DB, first, n int, url string,
) (organizations []uuid.UUID, err error) {
	ring, err := secret.ParseRing(ringOfBench)
	if err != nil {
		return nil, err
	}
	for i := range n {
		if i%endpointsOfOne == 0 {
			o, _, err := addOrganization(ctx, db, first+i/endpointsOfOne)
			if err != nil {
				return nil, err
			}
			organizations = append(organizations, o.ID)
			member := postgres.NewUser{Email: "ben@" + o.Name + ".example", OrganizationID: o.ID, Role: "member"}
			if _, err := db.AddUser(ctx, member); err != nil {
				return nil, err
			}
		}
		id := named("endpoint", first*endpointsOfOne+i)
		if _, err := db.Exec(ctx, `WITH added AS (
				INSERT INTO public.webhook_endpoints (id, organization_id, url) VALUES ($1, $2, $3))
			INSERT INTO private.webhook_secrets (endpoint_id, organization_id, sealed) VALUES ($1, $2, $4)`,
			id, organizations[len(organizations)-1], url, ring.Seal([]byte(secretOfBench), id.String())); err != nil {
			return nil, fmt.Errorf("add endpoint %d: %w", i, err)
		}
	}
	return organizations, nil
}

// changes are made in organizations by turns; their events go to the receivers.
type changes struct {
	db            *postgres.DB
	organizations []uuid.UUID
	receivers     *receivers
}

// letHang adds endpoints that hang, with all that is pending for them, and waits until each has a delivery under way.
func (c *changes) letHang(ctx context.Context, url string) error {
	organizations, err := addEndpoints(ctx, c.db, len(c.organizations), delivering.hanging, url)
	if err != nil {
		return err
	}
	for _, id := range organizations {
		if _, err := c.db.Exec(ctx, "SELECT private.emit($1, NULL, 'brand.created', '{}') FROM generate_series(1, $2)",
			id, delivering.pending/delivering.hanging); err != nil {
			return fmt.Errorf("add pending deliveries: %w", err)
		}
	}
	return poll(ctx, 5*time.Millisecond, func() (bool, error) {
		return c.receivers.hanging.Load() == int64(delivering.hanging), nil
	})
}

// measure returns, in order of size, the times from events to receivers, and of changes with their event and without.
func (c *changes) measure(ctx context.Context) (served, with, without []time.Duration, err error) {
	for range delivering.rounds {
		for trigger, times := range map[string]*[]time.Duration{"DISABLE": &without, "ENABLE": &with} {
			if _, err := c.db.Exec(ctx, "SET ROLE answerscope_owner; ALTER TABLE public.members "+trigger+
				" TRIGGER emit_role; SET ROLE answerscope_service"); err != nil {
				return nil, nil, nil, fmt.Errorf("%s events: %w", trigger, err)
			}
			for i := range delivering.changes {
				began := time.Now()
				if _, err := c.db.Exec(ctx, `UPDATE public.members
					SET role = CASE role WHEN 'member' THEN 'viewer' ELSE 'member' END
					WHERE organization_id = $1 AND role <> 'owner'`, c.organizations[i%len(c.organizations)]); err != nil {
					return nil, nil, nil, fmt.Errorf("change member: %w", err)
				}
				*times = append(*times, time.Since(began))
				if err := lifecycle.Pause(ctx, time.Until(began.Add(delivering.pace))); err != nil {
					return nil, nil, nil, err
				}
			}
		}
	}
	err = poll(ctx, 5*time.Millisecond, func() (bool, error) {
		served = c.receivers.take(len(with) * endpointsOfOne)
		return served != nil, nil
	})
	for _, times := range [][]time.Duration{served, with, without} {
		slices.Sort(times)
	}
	return served, with, without, err
}

// receivers are endpoints that answer at once, and at one path some that hang.
type receivers struct {
	hanging atomic.Int64
	mu      sync.Mutex
	served  []time.Duration // since their events
}

const hanging = "/hanging"

func (r *receivers) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if request.URL.Path == hanging {
		r.hanging.Add(1)
		_ = lifecycle.Pause(request.Context(), delivering.hang) // until the sender gives up
		r.hanging.Add(-1)
		return
	}
	var event struct {
		Timestamp time.Time `json:"timestamp"`
	}
	if errors.Join(err, json.Unmarshal(body, &event)) == nil {
		r.mu.Lock()
		r.served = append(r.served, time.Since(event.Timestamp))
		r.mu.Unlock()
	}
}

// take returns the times of n deliveries, and forgets them; nil until there are as many.
func (r *receivers) take(n int) (served []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.served) >= n {
		served, r.served = r.served, nil
	}
	return served
}

// notifier is the process that delivers, and where it finds what it needs.
type notifier struct {
	Postgres    string `json:"postgres"`
	Certificate []byte `json:"certificate"` // of the receivers
}

// run delivers until ctx ends.
func (n notifier) run(ctx context.Context, announce func(any) error) error {
	debug.SetGCPercent(50) // as the command pipeline does
	certificate, err := x509.ParseCertificate(n.Certificate)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	x509.SetFallbackRoots(roots)
	cfg := postgres.DefaultConfig()
	cfg.DSN = n.Postgres
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	ring, err := secret.ParseRing(ringOfBench)
	if err != nil {
		return err
	}
	client, err := egress.New([]string{"127.0.0.0/8"})
	if err != nil {
		return err
	}
	sender, pace := notify.Sender{Client: client, Ring: ring}, notify.DefaultConfig()
	pace.Deliver = sender.Send
	worker, err := notify.New(pace, db, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	if err := announce("ready"); err != nil {
		return err
	}
	return worker.Run(ctx)
}

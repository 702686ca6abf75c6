package notify_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/fault"
	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/sql/postgres"
)

// workerVariable has the database of a process that delivers until it is killed; faultVariable where it dies by itself.
const (
	workerVariable = "ANSWERSCOPE_TEST_WORKER"
	faultVariable  = "ANSWERSCOPE_TEST_FAULT"
)

func workUntilKilled(dsn string) int {
	err := func() error {
		if at := os.Getenv(faultVariable); at != "" {
			if err := fault.Arm(at); err != nil {
				return err
			}
		}
		cfg := postgres.DefaultConfig()
		cfg.DSN = dsn
		db, err := postgres.Open(context.Background(), cfg)
		if err != nil {
			return err
		}
		pace := quickly()
		pace.Lease, pace.Timeout = 2*time.Second, time.Second
		worker, err := notify.New(pace, db, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		return worker.Run(context.Background())
	}()
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// work starts a process, which dies at a point if one is given. The channel is closed when it has ended.
func (e *environment) work(t *testing.T, at string) (ended chan struct{}) {
	t.Helper()
	p := exec.Command(os.Args[0])
	p.Env = append(os.Environ(), workerVariable+"="+e.cfg.DSN, faultVariable+"="+at)
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() { defer close(ended); _ = p.Wait() }()
	t.Cleanup(func() { _ = p.Process.Kill(); <-ended })
	return ended
}

// Three processes deliver at a time, and are killed at the points of a delivery. Every event arrives at every endpoint;
// it arrives again at most once for each delivery that a killed process had under way.
func TestDeliveriesKilled(t *testing.T) {
	e := newEnvironment(t)
	const endpoints = 5
	for n := range endpoints {
		e.endpoint(t, "/"+strconv.Itoa(n))
	}
	kills, err := strconv.Atoi(os.Getenv("ANSWERSCOPE_TEST_KILLS"))
	if err != nil {
		kills = len(fault.DeliveryPoints)
	}
	events := 0
	emit := func() {
		events++
		e.emit(t)
	}
	arm := func(n int) chan struct{} {
		point := fault.DeliveryPoints[n%len(fault.DeliveryPoints)]
		return e.work(t, fmt.Sprintf("%s:%d", point, 1+rand.IntN(5)))
	}
	workers := []chan struct{}{arm(0), arm(1), arm(2)}
	for n := range kills {
		emit()
		emit()
		wait.For(t, "a kill", func() bool {
			select {
			case <-workers[n%3]:
				return true
			default:
				emit() // so that it passes its point
				return false
			}
		})
		if n+3 < kills {
			workers[n%3] = arm(n + 3)
		}
	}
	for ; events < 500 && kills > 100; emit() {
	}
	e.work(t, "")
	all := events * endpoints
	wait.Until(t, func() string {
		if got := e.statuses(t, deliveries); got != fmt.Sprint(all, " delivered") {
			return fmt.Sprintf("of %d deliveries there are %s", all, got)
		}
		return ""
	})
	arrived, requests := e.receiver.count("")
	if arrived != all || requests-arrived > kills*endpoints {
		t.Errorf("%d of %d deliveries arrived, %d times in all, after %d kills", arrived, all, requests, kills)
	}
	t.Logf("%d kills, %d events, %d deliveries, %d repeats", kills, events, all, requests-arrived)
}

package people

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/cli"
	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/system/run"
)

// A tenancy is everything that `answerscope all` serves, in this process, to two tenants.
type tenancy struct {
	*run.Installation
	served  *httpd.Server
	root    *pgx.Conn // beyond every policy
	tables  []string
	ours    tenant
	others  tenant
	callers []caller
}

func newTenancy(t *testing.T) *tenancy {
	t.Helper()
	i := run.Install(t, nil)
	s := &tenancy{
		Installation: i,
		served: serveHere(t, i, "ANSWERSCOPE_ISSUER="+run.Issuer, "ANSWERSCOPE_JWT_SECRET="+run.Secret,
			"ANSWERSCOPE_ANON_KEY="+run.Anon, secretKeys),
	}
	s.settle(t)
	s.callers = s.everyCaller(t)
	return s
}

// settle adds the tenants.
func (s *tenancy) settle(t *testing.T) {
	t.Helper()
	root, err := pgx.Connect(t.Context(), s.DB.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close(context.Background()) })
	s.root = root
	s.tables = exposed(t, root)
	s.ours, s.others = rent(t, s.Installation, root, "acorn"), rent(t, s.Installation, root, "birch")
}

// serveHere runs `answerscope all` in this process until the test ends, and returns it once it is ready: its parts can
// be looked at. The settings are of who signs in.
func serveHere(t *testing.T, i *run.Installation, settings ...string) *httpd.Server {
	t.Helper()
	env := map[string]string{}
	for _, entry := range i.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	settings = append(settings, "ANSWERSCOPE_POSTGRES_GATEWAY_DSN="+env["ANSWERSCOPE_POSTGRES_DSN"],
		"CRON_SECRET="+run.Secret)
	args := []string{"--listen=127.0.0.1:0", "--admin=127.0.0.1:0", "--rate-limit=0", "--start-limit=0",
		"--data-dir=" + env["ANSWERSCOPE_DATA_DIR"], "--kafka-brokers=" + env["ANSWERSCOPE_KAFKA_BROKERS"],
		"--kafka-topic-prefix=" + env["ANSWERSCOPE_KAFKA_TOPIC_PREFIX"],
		"--kafka-partitions=" + env["ANSWERSCOPE_KAFKA_PARTITIONS"]}
	ready := make(chan *httpd.Server, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- cli.ServeAll(ctx, args, slices.Concat(i.Env, settings), t.Output(), func(s *httpd.Server) {
			ready <- s
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	select {
	case s := <-ready:
		return s
	case err := <-ended:
		ended <- nil
		t.Fatalf("ended before it was ready: %v", err)
	}
	return nil
}

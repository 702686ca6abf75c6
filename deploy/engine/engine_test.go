package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

func TestMain(m *testing.M) {
	Main()
	runRole()
	os.Exit(m.Run())
}

var quiet = slog.New(slog.DiscardHandler)

// mustStop stops an engine at the end of a test, ended or not.
func mustStop(t *testing.T, e running) {
	t.Helper()
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// store is an engine in which a test writes a line and finds it again.
type store interface {
	running
	address() string
	write(ctx context.Context, line string) error
	read(ctx context.Context) ([]string, error)
}

// stores are all engines of the product, by the name of a subtest.
var stores = map[string]func(t *testing.T, dir string) (store, error){
	"clickhouse": func(t *testing.T, dir string) (store, error) {
		e, err := StartClickHouse(t.Context(), ClickHouseConfig{Dir: dir, Log: quiet})
		return clickHouseStore{e}, err
	},
	"postgres": func(t *testing.T, dir string) (store, error) {
		e, err := StartPostgres(t.Context(), PostgresConfig{Dir: dir, Log: quiet})
		return postgresStore{e}, err
	},
	"kafka": func(t *testing.T, dir string) (store, error) {
		e, err := StartKafka(t.Context(), KafkaConfig{Dir: dir, Log: quiet})
		if err != nil {
			return nil, err
		}
		return kafkaStore{e, []kgo.Opt{knownTo(e)}}, nil
	},
}

type clickHouseStore struct{ *ClickHouse }

func (s clickHouseStore) address() string { return s.DSN() + " " + s.HTTPAddr() }

func (s clickHouseStore) write(ctx context.Context, line string) error {
	_, err := s.query(ctx,
		"CREATE TABLE IF NOT EXISTS answerscope.lines (line String) ENGINE = MergeTree ORDER BY line")
	if err == nil {
		_, err = s.query(ctx, "INSERT INTO answerscope.lines VALUES ('"+line+"')")
	}
	return err
}

func (s clickHouseStore) read(ctx context.Context) ([]string, error) {
	text, err := s.query(ctx, "SELECT line FROM answerscope.lines ORDER BY line")
	return strings.Fields(text), err
}

type postgresStore struct{ *Postgres }

func (s postgresStore) address() string { return s.DSN() }

func (s postgresStore) write(ctx context.Context, line string) error {
	conn, err := pgx.Connect(ctx, s.DSN())
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS lines (line text)")
	if err == nil {
		_, err = conn.Exec(ctx, "INSERT INTO lines VALUES ($1)", line)
	}
	return err
}

func (s postgresStore) read(ctx context.Context) ([]string, error) {
	conn, err := pgx.Connect(ctx, s.DSN())
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT line FROM lines ORDER BY line")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

type broker interface {
	running
	Brokers() []string
}

type kafkaStore struct {
	broker
	login []kgo.Opt
}

// client connects to the broker.
func (s kafkaStore) client(options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(append(options, kgo.SeedBrokers(s.Brokers()...)), s.login...)...)
}

func (s kafkaStore) address() string { return strings.Join(s.Brokers(), ",") }

func (s kafkaStore) write(ctx context.Context, line string) error {
	client, err := s.client(kgo.DefaultProduceTopic("lines"))
	if err != nil {
		return err
	}
	defer client.Close()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "lines", 1, 1
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Topics = append(create.Topics, topic)
	if _, err := create.RequestWith(ctx, client); err != nil {
		return err
	}
	return client.ProduceSync(ctx, kgo.StringRecord(line)).FirstErr()
}

func (s kafkaStore) read(ctx context.Context) ([]string, error) {
	client, err := s.client(kgo.ConsumeTopics("lines"))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	end, err := s.end(ctx, client)
	if err != nil {
		return nil, err
	}
	var lines []string
	for int64(len(lines)) < end {
		fetched := client.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			return lines, err
		}
		fetched.EachRecord(func(r *kgo.Record) { lines = append(lines, string(r.Value)) })
	}
	return lines, nil
}

// end is the offset after the last record.
func (s kafkaStore) end(ctx context.Context, client *kgo.Client) (int64, error) {
	partition := kmsg.NewListOffsetsRequestTopicPartition()
	partition.Timestamp = -1
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic, topic.Partitions = "lines", append(topic.Partitions, partition)
	request := kmsg.NewPtrListOffsetsRequest()
	request.Topics = append(request.Topics, topic)
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	p := answer.Topics[0].Partitions[0]
	if p.ErrorCode != 0 {
		return 0, fmt.Errorf("list offsets: error %d", p.ErrorCode)
	}
	return p.Offset, nil
}

// kill ends an engine as a crash would, if it has a process of its own.
func kill(s store) bool {
	var e any = s
	if k, ok := s.(kafkaStore); ok {
		e = k.broker
	}
	process, ok := e.(interface{ Kill() })
	if ok {
		process.Kill()
	}
	return ok
}

func TestRestartKeepsAddressAndData(t *testing.T) {
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(tempdir.Passable(t), name)
			first, err := start(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := first.write(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			if err := first.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			second, err := start(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			mustStop(t, second)
			if first.address() != second.address() {
				t.Errorf("address %s became %s", first.address(), second.address())
			}
			if err := second.write(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			third := second
			if kill(second) {
				if third, err = start(t, dir); err != nil {
					t.Fatal(err)
				}
				mustStop(t, third)
			}
			got, err := third.read(t.Context())
			if err != nil || strings.Join(got, "") != "ab" {
				t.Errorf("read %q, %v; want a and b", got, err)
			}
		})
	}
}

func TestDoneSaysThatAnEngineDied(t *testing.T) {
	e, err := StartClickHouse(t.Context(), ClickHouseConfig{Dir: tempdir.Passable(t), Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, e)
	if err := e.Err(); err != nil {
		t.Errorf("Err while it runs: %v", err)
	}
	e.Kill()
	<-e.Done()
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Err after a kill: %v", err)
	}
}

func TestTwoEnginesDoNotShareADirectory(t *testing.T) {
	dir := tempdir.Passable(t)
	first, err := StartKafka(t.Context(), KafkaConfig{Dir: dir, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // the lock is tried once
	if _, err := lockDir(ended, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("second start: %v; want it to wait for the first to leave", err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := lockDir(ended, dir)
	if err != nil {
		t.Fatalf("the first has left: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

func TestConfiguredPortThatIsTakenIsAnError(t *testing.T) {
	first, err := StartKafka(t.Context(), KafkaConfig{Dir: tempdir.Passable(t), Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, first)
	var port int
	if _, err := fmt.Sscanf(first.Brokers()[0], loopback+":%d", &port); err != nil {
		t.Fatal(err)
	}
	if _, err := StartClickHouse(t.Context(),
		ClickHouseConfig{Dir: tempdir.Passable(t), Port: port, Log: quiet}); err == nil ||
		!strings.Contains(err.Error(), "is taken") {
		t.Errorf("start on a taken port: %v", err)
	}
}

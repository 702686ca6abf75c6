package engines

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit"
)

// Passwords of the brokers' users.
const (
	plainPassword = "hunter2-plain"
	scramPassword = "hunter2-scram"
)

func TestEnginesOverTLS(t *testing.T) {
	t.Parallel()
	engines := secured(t)
	t.Run("from the first migration to an answer", engines.whole)
	t.Run("every way in", engines.ways)
	t.Run("what is wrong is said", engines.mistakes)
}

// Over TLS alone: Kafka with SCRAM, ClickHouse with a client certificate, PostgreSQL with its name verified.
func (w *securedEngines) whole(t *testing.T) {
	env := w.env(nil)
	run.Must(t, env, "migrate")
	taking := run.Serve(t, env, "pipeline")
	asking := run.Serve(t, env, "queryapi")
	run.Must(t, env, "org", "add", "Acme Inc")
	run.Must(t, env, "user", "add", "ana@example.org", "--org", "acme-inc", "--role", "owner")
	key := run.Must(t, env, "key", "create", "--org", "acme-inc", "--user", "ana@example.org", "--name", "test")
	brands := run.Written(t, "brands.json", []byte(run.BrandsFile))
	line := fmt.Sprintf(
		`{"platform":"chatgpt","prompt":"best anvil?","answered_at":"%s","text":"Acme makes the best anvil."}`+"\n",
		time.Now().UTC().Add(-time.Minute).Format(time.RFC3339))
	if r := run.ToEnd(t, env, line, "import", "-", "--org", "acme-inc", "--create", brands); r.Status != run.ExitDone {
		t.Fatalf("import: status %d, %s", r.Status, r.Stderr)
	}
	run.AwaitResults(t, asking.URL, key, 1)
	for name, s := range map[string]*run.Server{"pipeline": taking, "queryapi": asking} {
		if status := s.Stop(t, syscall.SIGTERM); status != run.ExitDone {
			t.Errorf("%s ended with status %d", name, status)
		}
		if log := s.Log.String(); strings.Contains(log, "hunter2") {
			t.Errorf("the log of %s shows a password:\n%s", name, log)
		}
	}
}

// `make test` has one way of each engine, `make test-all` every one.
func (w *securedEngines) ways(t *testing.T) {
	ways := map[string]map[string]string{
		"kafka with plain, clickhouse over https, postgres with a client certificate": {
			"KAFKA_SASL": "plain", "KAFKA_USERNAME": "paul", "KAFKA_PASSWORD": plainPassword,
			"CLICKHOUSE_DSN": w.clickhouse("https", w.web, ""),
			"POSTGRES_DSN": w.postgres("sslmode", "verify-full", "sslrootcert",
				w.authority.File, "sslcert", w.us.Cert, "sslkey", w.us.Key),
		},
		"kafka with scram-sha-256, clickhouse over https and secure, postgres by its authority, not by name": {
			"KAFKA_SASL":     "scram-sha-256",
			"CLICKHOUSE_DSN": w.clickhouse("https", w.web, "secure=true"),
			"POSTGRES_DSN":   w.postgres("sslmode", "verify-ca", "sslrootcert", w.authority.File),
		},
		"kafka with a client certificate, clickhouse without verification": {
			"KAFKA_BROKERS": w.mutual, "KAFKA_SASL": "", "KAFKA_USERNAME": "", "KAFKA_PASSWORD": "",
			"KAFKA_CERT": w.us.Cert, "KAFKA_KEY": w.us.Key,
			"CLICKHOUSE_DSN": w.clickhouse("clickhouse", w.stranger, "secure=true&skip_verify=true"),
		},
		"kafka with a password, but in clear, clickhouse under another name": {
			"KAFKA_BROKERS": w.clear, "KAFKA_TLS": "", "KAFKA_CA": "",
			"CLICKHOUSE_DSN": w.clickhouse("clickhouse", w.stranger, "secure=true&tls_server_name=db.example"),
		},
	}
	for name, change := range ways {
		if !testkit.All && !strings.Contains(name, "plain") {
			continue
		}
		if r := run.ToEnd(t, w.env(change), "", "migrate", "--check"); r.Status != run.ExitDone {
			t.Errorf("%s: status %d, %s", name, r.Status, r.Stderr)
		}
	}
}

// What is wrong with a certificate or a password is said by name, and without the password. `make test` has a password
// and the authority of each engine, `make test-all` every mistake.
func (w *securedEngines) mistakes(t *testing.T) {
	mistakes := map[string]struct {
		change map[string]string
		want   []string
	}{
		"kafka: of another authority": {map[string]string{"KAFKA_CA": w.other.File},
			[]string{"kafka", "certificate signed by unknown authority"}},
		"kafka: a wrong password": {map[string]string{"KAFKA_PASSWORD": "hunter2-wrong"},
			[]string{"kafka", "SASL Authentication Failed"}},
		"kafka: a mechanism that it lacks": {
			map[string]string{"KAFKA_SASL": "plain", "KAFKA_BROKERS": w.clear, "KAFKA_TLS": "", "KAFKA_CA": ""},
			[]string{"kafka", "Unsupported SASL Mechanism"},
		},
		"kafka: no client certificate": {
			map[string]string{"KAFKA_BROKERS": w.mutual, "KAFKA_SASL": "", "KAFKA_USERNAME": "", "KAFKA_PASSWORD": ""},
			[]string{"kafka", "bad certificate"},
		},
		"kafka: no TLS": {map[string]string{"KAFKA_TLS": "", "KAFKA_CA": ""}, []string{"kafka"}},
		"clickhouse: of another authority": {map[string]string{"CLICKHOUSE_CA": w.other.File},
			[]string{"clickhouse", "certificate signed by unknown authority"}},
		"clickhouse: no client certificate": {map[string]string{"CLICKHOUSE_CERT": "", "CLICKHOUSE_KEY": ""},
			[]string{"clickhouse", "certificate required"}},
		"clickhouse: another's name": {
			map[string]string{"CLICKHOUSE_DSN": w.clickhouse("clickhouse", w.stranger, "secure=true")},
			[]string{"clickhouse", "certificate", "127.0.0.1"},
		},
		"clickhouse: no TLS": {
			map[string]string{
				"CLICKHOUSE_DSN": w.clickhouse("clickhouse", w.native, ""),
				"CLICKHOUSE_CA":  "", "CLICKHOUSE_CERT": "", "CLICKHOUSE_KEY": "",
			},
			[]string{"clickhouse", "secure=true"},
		},
		"postgres: of another authority": {
			map[string]string{"POSTGRES_DSN": w.postgres("sslmode", "verify-full", "sslrootcert", w.other.File)},
			[]string{"postgres", "certificate signed by unknown authority"},
		},
		"postgres: another's name": {
			map[string]string{"POSTGRES_DSN": strings.Replace(
				w.postgres("sslmode", "verify-full", "sslrootcert", w.authority.File), "127.0.0.1", "localhost", 1)},
			[]string{"postgres", "certificate", "localhost"},
		},
	}
	for name, c := range mistakes {
		if !testkit.All && !strings.Contains(name, "authority") && !strings.Contains(name, "password") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := run.ToEnd(t, w.env(c.change), "", "migrate", "--check")
			if r.Status != run.ExitFailed || strings.Contains(r.Stderr, "hunter2") || r.Stdout != "" {
				t.Errorf("status %d, stdout %q, stderr %s", r.Status, r.Stdout, r.Stderr)
			}
			for _, part := range c.want {
				if !strings.Contains(r.Stderr, part) {
					t.Errorf("said %s\nwant it to name %q", r.Stderr, part)
				}
			}
		})
	}
}

// securedEngines are engines that are reached over TLS.
type securedEngines struct {
	authority, other *testkit.CA
	us               testkit.Certificate

	// listeners of Apache Kafka: TLS and passwords, TLS and certificates, passwords alone
	brokers, mutual, clear string
	native, web, stranger  string  // ClickHouse behind TLS: both protocols, and native under another's certificate
	database               url.URL // of ClickHouse, without TLS
	control                url.URL // of PostgreSQL
	prefix                 string
}

func secured(t *testing.T) *securedEngines {
	t.Helper()
	w := &securedEngines{authority: testkit.NewCA(t), other: testkit.NewCA(t), prefix: testkit.Prefix(t)}
	w.us = w.authority.Issue(t, "us")
	server := w.authority.Issue(t, "server", "127.0.0.1")
	w.startKafka(t, server)
	w.startPostgres(t, server)
	w.database = address(t, testkit.ClickHouse(t))
	web, _ := testkit.ClickHouseHTTP(t)
	w.native = testkit.TLSProxy(t, w.database.Host, w.authority, server)
	w.web = testkit.TLSProxy(t, web, w.authority, server)
	w.stranger = testkit.TLSProxy(t, w.database.Host, w.authority, w.authority.Issue(t, "stranger", "db.example"))
	return w
}

// env are the settings that work, but for a change of some; without their prefix.
func (w *securedEngines) env(change map[string]string) []string {
	settings := map[string]string{
		"KAFKA_BROKERS": w.brokers, "KAFKA_TLS": "true", "KAFKA_CA": w.authority.File, "KAFKA_TOPIC_PREFIX": w.prefix,
		"KAFKA_SASL": "scram-sha-512", "KAFKA_USERNAME": "sara", "KAFKA_PASSWORD": scramPassword,
		"CLICKHOUSE_DSN": w.clickhouse("clickhouse", w.native, "secure=true"),
		"CLICKHOUSE_CA":  w.authority.File, "CLICKHOUSE_CERT": w.us.Cert, "CLICKHOUSE_KEY": w.us.Key,
		"POSTGRES_DSN": w.postgres("sslmode", "verify-full", "sslrootcert", w.authority.File),
	}
	maps.Copy(settings, change)
	var env []string
	for name, value := range settings {
		if value != "" {
			env = append(env, "ANSWERSCOPE_"+name+"="+value)
		}
	}
	return env
}

func (w *securedEngines) clickhouse(scheme, host, query string) string {
	dsn := w.database
	dsn.Scheme, dsn.Host, dsn.RawQuery = scheme, host, query
	return dsn.String()
}

// postgres is the address with parameters, by name and value.
func (w *securedEngines) postgres(parameters ...string) string {
	dsn, query := w.control, url.Values{}
	for pair := range slices.Chunk(parameters, 2) {
		query.Set(pair[0], pair[1])
	}
	dsn.RawQuery = query.Encode()
	return dsn.String()
}

func (w *securedEngines) startKafka(t *testing.T, server testkit.Certificate) {
	t.Helper()
	stores := []string{
		"ssl.keystore.type=PEM", "ssl.keystore.location=" + server.Both,
		"ssl.truststore.type=PEM", "ssl.truststore.location=" + w.authority.File,
	}
	const scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	broker, err := engine.StartApacheKafka(t.Context(), engine.ApacheKafkaConfig{
		Dir: run.DataDir(t), Log: slog.New(slog.DiscardHandler),
		Listeners: []engine.KafkaListener{
			{Name: "SECURED", Protocol: "SASL_SSL", Properties: append([]string{
				"sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
				`plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_paul="` +
					plainPassword + `";`,
				"scram-sha-256.sasl.jaas.config=" + scram, "scram-sha-512.sasl.jaas.config=" + scram,
			}, stores...)},
			{Name: "MUTUAL", Protocol: "SSL", Properties: append([]string{"ssl.client.auth=required"}, stores...)},
			{Name: "CLEAR", Protocol: "SASL_PLAINTEXT", Properties: []string{
				"sasl.enabled.mechanisms=SCRAM-SHA-512", "scram-sha-512.sasl.jaas.config=" + scram,
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	stopped(t, broker.Stop)
	w.brokers, w.mutual, w.clear = broker.Listener("SECURED"), broker.Listener("MUTUAL"), broker.Listener("CLEAR")
	client := kafka.Client{Addr: kafka.TCP(broker.Brokers()...)}
	// one at a time of a user
	for _, mechanism := range []kafka.ScramMechanism{kafka.ScramMechanismSha256, kafka.ScramMechanismSha512} {
		altered, err := client.AlterUserScramCredentials(t.Context(), &kafka.AlterUserScramCredentialsRequest{
			Upsertions: []kafka.UserScramCredentialsUpsertion{credential(t, "sara", mechanism, scramPassword)},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, user := range altered.Results {
			if user.Error != nil {
				t.Fatal(user.Error)
			}
		}
	}
}

// startPostgres starts a server that takes connections over TLS. Its key must be its user's.
func (w *securedEngines) startPostgres(t *testing.T, server testkit.Certificate) {
	t.Helper()
	cfg := engine.PostgresConfig{
		Dir: filepath.Join(run.DataDir(t), "postgres"), NoSync: true, Log: slog.New(slog.DiscardHandler),
	}
	first, err := engine.StartPostgres(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	cluster, err := os.Stat(filepath.Join(cfg.Dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{server.Cert, server.Key, w.authority.File} {
		if err := os.Chown(file, int(cluster.Sys().(*syscall.Stat_t).Uid), -1); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Settings = []string{
		"ssl=on", "ssl_cert_file=" + server.Cert, "ssl_key_file=" + server.Key, "ssl_ca_file=" + w.authority.File,
	}
	second, err := engine.StartPostgres(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	stopped(t, second.Stop)
	w.control = address(t, second.DSN())
}

// credential is what a broker keeps of a user's password (RFC 5802).
func credential(t *testing.T, name string, mechanism kafka.ScramMechanism,
	password string) kafka.UserScramCredentialsUpsertion {
	t.Helper()
	const iterations = 4096
	sum, length := sha256.New, sha256.Size
	if mechanism == kafka.ScramMechanismSha512 {
		sum, length = sha512.New, sha512.Size
	}
	salt := []byte("salt of " + name)
	salted, err := pbkdf2.Key(sum, password, salt, iterations, length)
	if err != nil {
		t.Fatal(err)
	}
	return kafka.UserScramCredentialsUpsertion{
		Name: name, Mechanism: mechanism, Iterations: iterations, Salt: salt, SaltedPassword: salted,
	}
}

// stopped stops an engine at the end of a test.
func stopped(t *testing.T, stop func(context.Context) error) {
	t.Helper()
	t.Cleanup(func() {
		if err := stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func address(t *testing.T, dsn string) url.URL {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return *u
}

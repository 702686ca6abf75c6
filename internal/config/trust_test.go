package config_test

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/testkit"
)

func TestCertificatesThatWouldNotBeUsedAreRefused(t *testing.T) {
	right := config.Settings{
		DataDir: "./var", MinFree: 256 << 20, LogLevel: "info", LogFormat: "text",
		Kafka: config.Kafka{Partitions: 6, Replicas: 1, Retention: 168 * time.Hour},
	}
	for want, change := range map[string]func(*config.Settings){
		"ANSWERSCOPE_KAFKA_CA, _CERT and _KEY are of no use without ANSWERSCOPE_KAFKA_TLS": func(s *config.Settings) {
			s.Kafka.Trust.CA = "ca.pem"
		},
		`ANSWERSCOPE_KAFKA_CERT is "us.pem": want it and ANSWERSCOPE_KAFKA_KEY ` +
			`together, or neither`: func(s *config.Settings) {
			s.Kafka.Brokers, s.Kafka.TLS, s.Kafka.Trust.Cert = []string{"a:1"}, true, "us.pem"
		},
		`ANSWERSCOPE_CLICKHOUSE_CA, _CERT and _KEY are of no use for "": want ANSWERSCOPE_CLICKHOUSE_DSN to begin ` +
			`with https:// or to have secure=true`: func(s *config.Settings) {
			s.ClickHouseTrust.CA = "ca.pem"
		},
		`of no use for "clickhouse://a:****@db:9440/x?secure=false"`: func(s *config.Settings) {
			s.ClickHouseTrust.CA, s.ClickHouse = "ca.pem", config.NewDSN("clickhouse://a:b@db:9440/x?secure=false")
		},
		`ANSWERSCOPE_CLICKHOUSE_CERT is "": want it and ANSWERSCOPE_CLICKHOUSE_KEY ` +
			`together, or neither`: func(s *config.Settings) {
			s.ClickHouseTrust.Key, s.ClickHouse = "us.key", config.NewDSN("https://a:b@db:8443/x")
		},
	} {
		s := right
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, want %s", err, want)
		}
	}
	right.ClickHouseTrust.CA, right.ClickHouse = "ca.pem", config.NewDSN("clickhouse://a:b@db:9440/x?secure=true")
	if err := right.Validate(); err != nil {
		t.Errorf("right settings: %v", err)
	}
}

func TestWrongFilesAreKnownAtTheStart(t *testing.T) {
	authority := testkit.NewCA(t)
	us, other := authority.Issue(t, "us"), authority.Issue(t, "other")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, trust := range map[string]config.Trust{
		"read ca file: open /nowhere":                              {CA: "/nowhere"},
		"read ca file " + empty + ": no certificate in it":         {CA: empty},
		"read certificate " + us.Cert + " and key " + other.Key:    {Cert: us.Cert, Key: other.Key},
		"read certificate /nowhere and key " + us.Key + ": open /": {Cert: "/nowhere", Key: us.Key},
	} {
		if _, err := trust.TLS(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("TLS() of %+v = %v, want %s", trust, err, want)
		}
	}
}

// Certificates of services are renewed every few weeks, by putting new files in place of the old ones.
func TestARenewedCertificateIsUsedWithoutARestart(t *testing.T) {
	authority := testkit.NewCA(t)
	server := authority.Issue(t, "server", "127.0.0.1")
	us := authority.Issue(t, "before")
	trust, err := config.Trust{CA: authority.File, Cert: us.Cert, Key: us.Key}.TLS()
	if err != nil {
		t.Fatal(err)
	}
	if got := met(t, authority, server, trust); got != "before" {
		t.Errorf("the server met %q", got)
	}
	renewed := authority.Issue(t, "after")
	for from, to := range map[string]string{renewed.Cert: us.Cert, renewed.Key: us.Key} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if got := met(t, authority, server, trust); got != "after" {
		t.Errorf("after the renewal the server met %q", got)
	}
}

// met is the name of the client that a server which asks for certificates has met.
func met(t *testing.T, authority *testkit.CA, server testkit.Certificate, trust *tls.Config) string {
	t.Helper()
	listening, err := config.Trust{CA: authority.File}.TLS()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	listening.Certificates, listening.ClientAuth, listening.ClientCAs = []tls.Certificate{pair},
		tls.RequireAndVerifyClientCert, listening.RootCAs
	plain, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	name := make(chan string, 1)
	go func() {
		conn, err := plain.Accept()
		if err != nil {
			name <- err.Error()
			return
		}
		secured := tls.Server(conn, listening)
		defer secured.Close()
		if err := secured.Handshake(); err != nil {
			name <- err.Error()
			return
		}
		name <- secured.ConnectionState().PeerCertificates[0].Subject.CommonName
	}()
	conn, err := (&tls.Dialer{Config: trust}).DialContext(t.Context(), "tcp", plain.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return <-name
}

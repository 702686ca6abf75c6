package producer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/config"
)

func TestConnectionBuildsBothWays(t *testing.T) {
	c := Connection{Brokers: []string{"a:1", "b:2"}, TLS: true, Username: "u", Password: config.NewSecret("p")}
	for mechanism, name := range map[string]string{"plain": "PLAIN", "scram-sha-256": "SCRAM-SHA-256",
		"scram-sha-512": "SCRAM-SHA-512"} {
		c.Mechanism = mechanism
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		transport, err := c.Transport("answers")
		if err != nil || transport.TLS == nil || transport.SASL.Name() != name {
			t.Errorf("Transport() = %+v, %v, want TLS and %s", transport, err, name)
		}
		dialer, err := c.Dialer()
		if err != nil || dialer.TLS == nil || dialer.SASLMechanism.Name() != name {
			t.Errorf("Dialer() = %+v, %v, want TLS and %s", dialer, err, name)
		}
	}
	if got := c.Address().String(); got != "a:1,b:2" {
		t.Errorf("Address() = %s", got)
	}
}

func TestConnectionSaysWhatIsWrongWithItsCertificates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	c := Connection{Brokers: []string{"a:1"}, TLS: true, Trust: config.Trust{CA: file}}
	if _, err := c.Transport(); err == nil || !strings.Contains(err.Error(), "read ca file") {
		t.Errorf("Transport() without the file = %v", err)
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Dialer(); err == nil || !strings.Contains(err.Error(), "no certificate in it, want PEM") {
		t.Errorf("Dialer() with a wrong file = %v", err)
	}
}

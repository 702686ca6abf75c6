package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Trust says whose certificates an engine is believed by, and how we prove ourselves to it. The files hold PEM.
type Trust struct {
	CA   string `name:"ca" placeholder:"FILE" help:"Certificates (PEM) to trust in place of the system's."`
	Cert string `name:"cert" placeholder:"FILE" help:"Certificate (PEM) that we prove ourselves with, and those between it and its root."`
	Key  string `name:"key" placeholder:"FILE" help:"Its private key (PEM, not encrypted)."`
}

// IsSet tells whether anything is said.
func (t Trust) IsSet() bool { return t != Trust{} }

// validate says what is wrong with the form; the files are read by whoever connects.
func (t Trust) validate(engine string) error {
	if (t.Cert == "") != (t.Key == "") {
		return wrong(engine+"_CERT", t.Cert, "want it and "+Prefix+engine+"_KEY together, or neither")
	}
	return nil
}

// TLS is how a connection is made: TLS 1.2 or later, and a server whose certificate holds for the name that it was
// called by. The files are read now, so that a wrong one is known at the start; our own certificate is read again for
// each connection, so that one that is renewed in its place is used without a restart.
func (t Trust) TLS() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("read ca file: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read ca file %s: no certificate in it, want PEM", t.CA)
		}
	}
	if t.Cert == "" {
		return cfg, nil
	}
	if _, err := t.pair(); err != nil {
		return nil, err
	}
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.pair() }
	return cfg, nil
}

func (t Trust) pair() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("read certificate %s and key %s: %w", t.Cert, t.Key, err)
	}
	return &pair, nil
}

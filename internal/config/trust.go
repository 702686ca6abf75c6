package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Trust has the authority of an engine's certificate, and our own certificate. The files hold PEM.
type Trust struct {
	CA   string `name:"ca" placeholder:"FILE" help:"Certificates (PEM) to trust in place of the system's."`
	Cert string `name:"cert" placeholder:"FILE" help:"{tls_cert}"`
	Key  string `name:"key" placeholder:"FILE" help:"Its private key (PEM, not encrypted)."`
}

// IsSet reports whether anything is set.
func (t Trust) IsSet() bool { return t != Trust{} }

// validate checks the form; the files are read when a connection is made.
func (t Trust) validate(m *mistakes, engine string) {
	m.want((t.Cert == "") == (t.Key == ""), engine+"_CERT", t.Cert, "it and "+Prefix+engine+"_KEY together, or neither")
}

// TLS is how a connection is made: TLS 1.2 or later, and a server whose certificate holds for the name that it was
// called by. The files are read now, so that a wrong one is known at the start; the client certificate is read again
// for each connection, so that a renewed one is used without a restart.
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

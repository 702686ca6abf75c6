package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An Authority issues certificates for one test. Its files are below a directory that the users of the engines may pass.
type Authority struct {
	File string // its own certificate, PEM

	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// Certificate is a pair of files, PEM.
type Certificate struct {
	Cert, Key string
	Both      string // the key, then the certificate, in one file
}

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	dir, err := os.MkdirTemp("", "answerscope-authority-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a := &Authority{dir: dir, File: filepath.Join(dir, "ca.pem")}
	own := template("authority of a test")
	own.IsCA, own.BasicConstraintsValid, own.KeyUsage = true, true, x509.KeyUsageCertSign
	a.key = newKey(t)
	a.cert = a.sign(t, own, own, a.key)
	a.write(t, a.File, pemOf("CERTIFICATE", a.cert.Raw))
	return a
}

// Issue makes a certificate for a server and a client alike: its subject is name, and it holds for the given hosts, names
// or addresses.
func (a *Authority) Issue(t testing.TB, name string, hosts ...string) Certificate {
	t.Helper()
	request := template(name)
	request.KeyUsage = x509.KeyUsageDigitalSignature
	request.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			request.IPAddresses = append(request.IPAddresses, ip)
		} else {
			request.DNSNames = append(request.DNSNames, host)
		}
	}
	key := newKey(t)
	issued := a.sign(t, request, a.cert, key)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := Certificate{Cert: filepath.Join(a.dir, name+".pem"), Key: filepath.Join(a.dir, name+".key"), Both: filepath.Join(a.dir, name+".both.pem")}
	certPEM, keyPEM := pemOf("CERTIFICATE", issued.Raw), pemOf("PRIVATE KEY", secret)
	a.write(t, c.Cert, certPEM)
	a.write(t, c.Key, keyPEM)
	a.write(t, c.Both, append(keyPEM, certPEM...))
	return c
}

// sign issues what is asked for to the holder of key, in the name of issuer.
func (a *Authority) sign(t testing.TB, request, issuer *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, request, issuer, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func (a *Authority) write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func template(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A CA issues certificates for one test. Its files are below a directory that the users of the engines may pass.
type CA struct {
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

// NewCA makes a certificate authority.
func NewCA(t testing.TB) *CA {
	t.Helper()
	dir, err := os.MkdirTemp("", "answerscope-ca-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	ca := &CA{dir: dir, File: filepath.Join(dir, "ca.pem")}
	ca.key, ca.cert = ca.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "CA of a test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(ca.File, cert, 0o600)); err != nil {
		t.Fatal(err)
	}
	return ca
}

// Issue makes a certificate for server and client: its subject is name, and it is valid for the given hosts, names or
// addresses.
func (ca *CA) Issue(t testing.TB, name string, hosts ...string) Certificate {
	t.Helper()
	request := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			request.IPAddresses = append(request.IPAddresses, ip)
		} else {
			request.DNSNames = append(request.DNSNames, host)
		}
	}
	key, issued := ca.sign(t, request)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(ca.dir, name)
	c := Certificate{Cert: path + ".pem", Key: path + ".key", Both: path + ".both.pem"}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issued.Raw})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	err = errors.Join(os.WriteFile(c.Cert, cert, 0o600), os.WriteFile(c.Key, private, 0o600),
		os.WriteFile(c.Both, append(private, cert...), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sign issues what is requested for a new key; the first certificate, the CA's own, is signed with that key.
func (ca *CA) sign(t testing.TB, request *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request.SerialNumber = big.NewInt(time.Now().UnixNano())
	request.NotBefore, request.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	issuer, signer := ca.cert, ca.key
	if issuer == nil {
		issuer, signer = request, key
	}
	der, err := x509.CreateCertificate(rand.Reader, request, issuer, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, signed
}

package testkit

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"testing"
)

// TLSProxy returns an address that speaks TLS in front of one that does not, until the
// test ends. It asks clients for a certificate of the CA. The embedded ClickHouse has no
// TLS listener of its own; what it sends through one is the same.
func TLSProxy(t testing.TB, address string, ca *CA, server Certificate) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(ca.File)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(text)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go forward(conn, address)
		}
	}()
	return listener.Addr().String()
}

// forward connects conn with an address until either end is closed.
func forward(conn net.Conn, address string) {
	defer conn.Close()
	server, err := net.Dial("tcp", address) //nolint:noctx // it ends with its other end
	if err != nil {
		return
	}
	defer server.Close()
	ended := make(chan struct{}, 2)
	for _, direction := range [][2]net.Conn{{conn, server}, {server, conn}} {
		go func() {
			_, _ = io.Copy(direction[0], direction[1]) // either end may close at any time
			ended <- struct{}{}
		}()
	}
	<-ended
}

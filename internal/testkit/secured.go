package testkit

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"testing"
)

// Secured is an address that speaks TLS in front of one that does not, until the test ends. It asks clients for a
// certificate of the authority. The embedded ClickHouse opens no TLS listener of its own; what it says inside of one is
// the same.
func Secured(t testing.TB, address string, authority *Authority, server Certificate) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(server.Cert, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(authority.File)
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
			go pass(conn, address)
		}
	}()
	return listener.Addr().String()
}

// pass joins two ends until one of them is closed.
func pass(conn net.Conn, address string) {
	defer conn.Close()
	behind, err := net.Dial("tcp", address) //nolint:noctx // it ends with its other end
	if err != nil {
		return
	}
	defer behind.Close()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{conn, behind}, {behind, conn}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // either end may go at any time
			ended <- struct{}{}
		}()
	}
	<-ended
}

package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

func client(t *testing.T, allow ...string) *Client {
	t.Helper()
	c, err := New(allow)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// names is a server of names, each with the addresses that it has one after the other; the last one stays.
type names struct {
	mu        sync.Mutex
	addresses map[string][]string
}

// dialer resolves names by the server.
func (n *names) dialer(t *testing.T) net.Dialer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		packet := make([]byte, 1500)
		for {
			size, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			if answer, err := n.answer(packet[:size]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return net.Dialer{Resolver: &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
		}}}
}

func (n *names) answer(packet []byte) ([]byte, error) {
	var message dnsmessage.Message
	if err := message.Unpack(packet); err != nil {
		return nil, err
	}
	question := message.Questions[0]
	message.Response, message.Additionals = true, nil
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.addresses[question.Name.String()]
	address := netip.MustParseAddr(all[0])
	header := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
	switch {
	case address.Is4() && question.Type == dnsmessage.TypeA:
		message.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: address.As4()}}}
	case address.Is6() && question.Type == dnsmessage.TypeAAAA:
		message.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}}}
	}
	if len(message.Answers) > 0 && len(all) > 1 {
		n.addresses[question.Name.String()] = all[1:]
	}
	return message.Pack()
}

// listen returns a listener, and a check that no connection came to it.
func listen(t *testing.T, address string) (port string, untouched func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return port, func() {
		t.Helper()
		own, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer own.Close()
		first, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		if first.RemoteAddr().String() != own.LocalAddr().String() {
			t.Error("the listener was connected to")
		}
	}
}

func get(t *testing.T, c *Client, url string) (Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(request)
}

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	t.Parallel()
	port, untouched := listen(t, "127.0.0.1:0")
	for _, address := range []string{
		"127.0.0.1", "169.254.169.254", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1",
		"192.0.2.1",
		"::1", "::", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
		"64:ff9b:1::1", "fd00::1", "fe80::1", "ff02::1", "2002:7f00:1::1", "2001:db8::1",
	} {
		c := newClient(webhooks, nil, (&names{addresses: map[string][]string{"hook.example.": {address}}}).dialer(t))
		for _, url := range []string{
			"https://hook.example:" + port, "https://hook.example/", "http://hook.example:" + port,
			"https://[::1]:" + port, "https://127.0.0.1:" + port,
		} {
			if _, err := get(t, c, url); err == nil || Reason(err) != "no public address" {
				t.Errorf("%s at %s: %v", url, address, err)
			}
		}
	}
	untouched()
}

// A public address is not dialled here: the check that comes before is asked.
func TestAPublicAddressHasTLSAndAPortOfIt(t *testing.T) {
	t.Parallel()
	for _, c := range []*Client{client(t), client(t, "10.20.0.0/16")} {
		if _, err := get(t, c, "http://93.184.215.14:443/"); !errors.Is(err, notOpen) {
			t.Errorf("without TLS: %v", err)
		}
		for address, want := range map[string]error{
			"93.184.215.14:443": nil, "93.184.215.14:8443": nil, "[2606:2800:21f:cb07::1]:443": nil,
			"93.184.215.14:22": webhooks.wrongPort, "[2606:2800:21f:cb07::1]:80": webhooks.wrongPort,
			"[fe80::1%eth0]:443": notPublic,
		} {
			network := "tcp4"
			if strings.HasPrefix(address, "[") {
				network = "tcp6"
			}
			if err := c.control(true)(t.Context(), network, address, nil); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", address, err, want)
			}
			if err := c.control(false)(t.Context(), network, address, nil); !errors.Is(err, notOpen) &&
				!errors.Is(err, notPublic) {
				t.Errorf("%s without TLS: %v", address, err)
			}
		}
	}
}

// A name that was public when it was checked is private when it is dialled.
func TestANameThatChangesItsAddressIsRefused(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
	}))
	server.Listener.Close()
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	defer server.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_, untouched := listen(t, "127.0.0.1:"+port)
	c := newClient(webhooks, client(t, "127.0.0.2/32").open,
		(&names{addresses: map[string][]string{"hook.example.": {"127.0.0.2", "127.0.0.1"}}}).dialer(t))
	if got, err := get(t, c, "http://hook.example:"+port); err != nil || got.Status != http.StatusOK {
		t.Errorf("first: %+v, %v", got, err)
	}
	if _, err := get(t, c, "http://hook.example:"+port); err == nil || Reason(err) != "no public address" {
		t.Errorf("then: %v", err)
	}
	untouched()
}

func TestAWrongURLSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	shut, open := client(t), client(t, "10.20.0.0/16", "fd12::/16")
	for _, c := range []struct{ url, shut, open string }{
		{"https://example.org/hooks?a=1", "", ""},
		{"https://example.org:8443/", "", ""},
		{"https://example.org:443", "", ""},
		{"https://93.184.215.14/", "", ""},
		{"http://example.org/", "want https", ""}, // the address decides
		{"https://example.org:5678/", "want port 443 or 8443", ""},
		{"http://10.20.0.1:5678/", "want https", ""},
		{"https://[fd12::1]:5678/", "want port", ""},
		{"http://10.21.0.1/", "want https", "want https"},
		{"https://10.21.0.1/", "want a public address", "want a public address"},
		{"https://[::ffff:10.21.0.1]/", "want a public address", "want a public address"},
		{"https://[64:ff9b::1]/", "want a public address", "want a public address"},
		{"https://[fe80::1%25eth0]/", "want a public address", "want a public address"},
		{"https://ann:secret@example.org/", "want no user", "want no user"},
		{"https://example.org/#top", "want no fragment", "want no fragment"},
		{"https://example.org/#", "want no fragment", "want no fragment"},
		{"ftp://example.org/", "want an address such as https://", "want an address"},
		{"https:///hooks", "want an address", "want an address"},
		{"https://:443/", "want an address", "want an address"},
		{"example.org/hooks", "want an address", "want an address"},
		{"https://exa mple.org", "want an address", "want an address"},
		{"https://example.org/\r\nX: 1", "want an address", "want an address"},
		{"", "want an address", "want an address"},
		{"https://bücher.example/", "want ASCII alone: the name in punycode", "want ASCII alone"},
		{"https://b%C3%BCcher.example/", "want ASCII", "want ASCII"},
		{"https://example.org/ü", "want ASCII", "want ASCII"},
		{"https://example.org/" + strings.Repeat("a", 2030), "want at most 2048 bytes", "want at most 2048 bytes"},
	} {
		for want, by := range map[*string]*Client{&c.shut: shut, &c.open: open} {
			if _, err := by.CheckURL(c.url); (err == nil) != (*want == "") ||
				err != nil && !strings.Contains(err.Error(), "url: "+*want) {
				t.Errorf("%.40q: %v, want %q", c.url, err, *want)
			}
		}
	}
	if stored, err := shut.CheckURL("HTTPS://example.org/%C3%BC?a=B"); stored != "https://example.org/%C3%BC?a=B" ||
		err != nil {
		t.Errorf("stored as %s, %v", stored, err)
	}
	for _, wrong := range []string{"10.20.0.1", "10.20.0.1/16", "n8n", "", "10.0.0.0/33"} {
		if _, err := New([]string{wrong}); err == nil || !strings.Contains(err.Error(), "want a prefix") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestAResponseIsBounded(t *testing.T) {
	t.Parallel()
	followed := false
	mux := http.NewServeMux()
	hang := func(r *http.Request) { // the server watches the connection once the body is read
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, strings.Repeat("a", 1024)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/drips", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a")
		w.(http.Flusher).Flush()
		hang(r)
	})
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) { hang(r) })
	mux.HandleFunc("/resets", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	mux.HandleFunc("/redirects", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	mux.HandleFunc("/elsewhere", func(http.ResponseWriter, *http.Request) { followed = true })
	server, overTLS := httptest.NewServer(mux), httptest.NewUnstartedServer(mux)
	overTLS.Config.ErrorLog = log.New(io.Discard, "", 0)
	overTLS.StartTLS()
	defer server.Close()
	defer overTLS.Close()
	c := client(t, "127.0.0.0/8")
	for _, step := range []struct {
		url, reason  string
		status, size int
	}{
		{server.URL + "/endless", "", 200, 4096},
		{server.URL + "/drips", "timeout", 200, 1},
		{server.URL + "/hangs", "timeout", 0, 0},
		{server.URL + "/resets", "connection closed", 0, 0},
		{server.URL + "/redirects", "", 302, -1}, // the body is Go's own
		{overTLS.URL + "/elsewhere", "certificate", 0, 0},
		{strings.Replace(server.URL, "http:", "https:", 1), "no TLS", 0, 0},
		{"http://127.0.0.1:1/", "connection refused", 0, 0},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if step.reason == "timeout" {
			ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second) // suffices for the first byte
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, step.url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Do(request)
		cancel()
		reason := ""
		if err != nil {
			reason = Reason(err)
		}
		if reason != step.reason || got.Status != step.status || step.size >= 0 && len(got.Body) != step.size {
			t.Errorf("%s: %q, status %d, %d bytes (%v)", step.url, reason, got.Status, len(got.Body), err)
		}
	}
	if followed {
		t.Error("a redirect was followed")
	}
	if reason := Reason(fmt.Errorf("dial 10.1.2.3: %w",
		&net.DNSError{Err: "no such host", Name: "internal", IsNotFound: true})); reason != "no public address" {
		t.Error(reason)
	}
}

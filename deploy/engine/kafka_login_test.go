package engine

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/answerscope/answerscope/internal/testkit/tempdir"
)

// What comes before a login neither ends the process nor takes its memory: the connection is closed.
func TestWhatComesBeforeALoginIsBounded(t *testing.T) {
	k, err := StartKafka(t.Context(), KafkaConfig{Dir: tempdir.Passable(t), Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	mustStop(t, k)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, request := range map[string][]byte{
		"a request of two gigabytes":          requestHead(1<<31-1, kmsg.SASLAuthenticate),
		"a login of a megabyte":               requestHead(1<<20, kmsg.SASLAuthenticate),
		"a request that is shorter than any":  requestHead(1, kmsg.SASLAuthenticate),
		"a kind of request that there is not": append(requestHead(8, 9999), 0, 0, 0, 0),
		"a negative kind":                     append(requestHead(8, -1), 0, 0, 0, 0),
		"a request of a client":               append(requestHead(8, kmsg.Metadata), 0, 0, 0, 0),
	} {
		conn, err := net.Dial("tcp", k.Brokers()[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(request); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("%s is answered with %d bytes, %v", name, len(answer), err)
		}
		_ = conn.Close() // the broker has closed it
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 10<<20 {
		t.Errorf("%d bytes were allocated for it", taken)
	}
	if err := (kafkaStore{k, []kgo.Opt{knownTo(k)}}).write(t.Context(), "after"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// The first steps of a login, which need no password, are no login, and nor is one with a wrong password.
func TestOnlyTheServersSignatureIsALogin(t *testing.T) {
	t.Parallel()
	answer := func(version, code int16, text string) []byte {
		r := kmsg.NewPtrSASLAuthenticateResponse()
		r.Version, r.ErrorCode, r.SASLAuthBytes = version, code, []byte(text)
		tags := 0
		if r.IsFlexible() {
			tags = 1
		}
		return r.AppendTo(make([]byte, 8+tags))
	}
	for version := range int16(3) {
		for text, want := range map[string]bool{
			"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=": true, "r=v=x,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096": false,
			"": false,
		} {
			if got := isLogin(answer(version, 0, text), version); got != want {
				t.Errorf("version %d, %q: %v", version, text, got)
			}
			if isLogin(answer(version, 34, text), version) {
				t.Errorf("version %d, %q with an error is a login", version, text)
			}
		}
	}
	for _, other := range [][]byte{nil, make([]byte, 8), make([]byte, 9), make([]byte, 40)} {
		if isLogin(other, 2) || isLogin(other, 0) {
			t.Errorf("%d zeros are a login", len(other))
		}
	}
}

func requestHead(size uint32, kind kmsg.Key) []byte {
	head := make([]byte, 8)
	binary.BigEndian.PutUint32(head, size)
	binary.BigEndian.PutUint16(head[4:], uint16(kind))
	return head
}

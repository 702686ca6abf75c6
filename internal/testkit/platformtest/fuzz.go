package platformtest

import (
	"testing"

	"github.com/answerscope/answerscope/ingest/platform"
)

// Fuzz lets a reader read anything: it answers with a conforming reply or with a *platform.Error.
func Fuzz(f *testing.F, slug string, read func(raw []byte) (platform.Reply, error)) {
	for _, c := range Cases(f, slug) {
		f.Add(c.Response)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := read(raw)
		Outcome(t, got, err)
	})
}

// Outcome checks a conforming reply, or a *platform.Error.
func Outcome(t *testing.T, got platform.Reply, err error) {
	t.Helper()
	if err == nil {
		reply(t, got)
		return
	}
	failure(t, err)
}

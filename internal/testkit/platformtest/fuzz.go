package platformtest

import (
	"errors"
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
		if err == nil {
			reply(t, got)
			return
		}
		if _, ok := errors.AsType[*platform.Error](err); !ok {
			t.Errorf("error %v: want a *platform.Error", err)
		}
		failure(t, err)
	})
}

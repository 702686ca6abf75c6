// Package platformtest is the conformance test that every platform passes. Suite asks a local server. Conform needs
// none: it checks replies, failures and a context that has ended.
package platformtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Conform asks p the question under several sample numbers, at once, and checks what comes back against the contract of
// platform.Platform. At least one of them has to be answered.
func Conform(t *testing.T, p platform.Platform, question platform.Question) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Ask(ended, question); !errors.Is(err, context.Canceled) {
		t.Errorf("asked under a canceled context: got %v, want context.Canceled", err)
	}
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	_, err := p.Ask(late, question)
	if e, ok := errors.AsType[*platform.Error](err); !ok || e.Class != platform.Timeout {
		t.Errorf("asked after its deadline: got %v, want a *platform.Error of class timeout", err)
	}

	const samples = 8
	replies, errs := make([]platform.Reply, samples), make([]error, samples)
	var asking sync.WaitGroup
	for i := range samples {
		asking.Go(func() {
			q := question
			q.Sample = int64(i) + 1
			replies[i], errs[i] = p.Ask(t.Context(), q)
		})
	}
	asking.Wait()
	answered := 0
	for i := range samples {
		if errs[i] != nil {
			failure(t, errs[i])
			continue
		}
		answered++
		reply(t, replies[i])
	}
	if answered == 0 {
		t.Errorf("none of %d samples was answered: %v", samples, errs)
	}
}

func failure(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*platform.Error](err)
	switch {
	case !ok:
		t.Errorf("error %v: want a *platform.Error", err)
	case !slices.Contains(platform.Classes, e.Class):
		t.Errorf("class %q: want one of %q", e.Class, platform.Classes)
	case e.RetryAfter < 0:
		t.Errorf("again after %s: want 0 or more", e.RetryAfter)
	}
}

func reply(t *testing.T, r platform.Reply) {
	t.Helper()
	if r.Finish != event.FinishNotShown && strings.TrimSpace(r.Text) == "" && len(r.Products) == 0 {
		t.Error("an empty reply: want an error of class changed_shape")
	}
	if !utf8.ValidString(r.Text) {
		t.Error("text that is not UTF-8")
	}
	if r.Surface != event.SurfaceAPI && r.Surface != event.SurfaceConsumer {
		t.Errorf("surface %q: want it labelled", r.Surface)
	}
	if r.Finish == "" {
		t.Error("no finish state")
	}
	if len(r.Raw) == 0 {
		t.Error("no raw payload")
	}
	for _, c := range r.Citations {
		if !platform.IsURL(c.URL) {
			t.Errorf("citation %q: want a URL", c.URL)
		}
		if c.Start < 0 || c.Start > c.End || c.End > len(r.Text) {
			t.Errorf("citation %s from byte %d to %d of %d", c.URL, c.Start, c.End, len(r.Text))
		}
	}
	for _, p := range r.Products {
		if p.Title == "" {
			t.Errorf("product without a title: %+v", p)
		}
	}
}

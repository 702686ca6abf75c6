package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/answerscope/answerscope/queryapi/auth"
)

// A dashboard is one that a process serves, with a user of it.
type dashboard struct {
	url, email, password string
	overview             func(i int) string // the address of other figures for each i
	brands               []brand            // of the large data
	stop                 func() error
}

// The lines of the demo's log that say where its dashboard is and who may sign in.
var (
	demoAddress = regexp.MustCompile(`^  see    (http://\S+)/$`)
	demoSignIn  = regexp.MustCompile(`sign in as (\S+) with the password (\S+)$`)
)

// startDemo returns when the demo's data answers queries.
func (s *stack) startDemo(ctx context.Context) (*dashboard, error) {
	cmd, err := answerscope(ctx, nil, "demo", "--data-dir", filepath.Join(s.dir, "demo"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &dashboard{overview: func(i int) string {
		day := time.Now().UTC().AddDate(0, 0, -i)
		return "/brands/fernwood?date_from=" + day.AddDate(0, 0, -29).Format(time.DateOnly) + "&date_to=" + day.Format(time.DateOnly)
	}}
	ready := make(chan struct{})
	c, err := s.startChild(cmd, func(line string) {
		if m := demoAddress.FindStringSubmatch(line); m != nil {
			d.url = m[1]
		}
		if m := demoSignIn.FindStringSubmatch(line); m != nil {
			d.email, d.password = m[1], m[2]
			close(ready)
		}
	})
	if err != nil {
		return nil, err
	}
	d.stop = c.stop
	select {
	case <-ready:
		return d, nil
	case <-c.ended:
		return nil, fmt.Errorf("the demo ended:\n%s", c.last())
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// startLarge fills a warehouse as query does, and serves it as `answerscope queryapi` does.
func (s *stack) startLarge(ctx context.Context, progress func(string, ...any)) (*dashboard, error) {
	db, err := s.openPostgres(ctx)
	if err != nil {
		return nil, err
	}
	brands, _, err := s.fillWhole(ctx, db, progress)
	if err != nil {
		return nil, err
	}
	d := &dashboard{email: "ann@organization-0.example", password: auth.GeneratePassword(), brands: brands}
	if err := db.SetPassword(ctx, d.email, auth.HashPassword(d.password)); err != nil {
		return nil, err
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	cmd, err := answerscope(ctx, []string{
		"ANSWERSCOPE_CLICKHOUSE_DSN=" + s.database("whole"), "ANSWERSCOPE_POSTGRES_DSN=" + s.postgres, "ANSWERSCOPE_POSTGRES_GATEWAY_DSN=" + s.gateway,
		"ANSWERSCOPE_SECRET_KEYS=bench:" + base64.StdEncoding.EncodeToString(random),
	}, "queryapi", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--rate-limit", "0")
	if err != nil {
		return nil, err
	}
	_, line, err := s.startReady(ctx, cmd)
	d.url = strings.TrimPrefix(line, "ready ")
	d.overview = func(i int) string {
		last := firstDay.AddDate(0, 0, asking.days-1-i)
		return fmt.Sprintf("/brands/brand-%03d?date_from=%s&date_to=%s", i%brandsOfOne,
			last.AddDate(0, 0, 1-paging.window).Format(time.DateOnly), last.Format(time.DateOnly))
	}
	return d, err
}

var assets = regexp.MustCompile(`src="(/assets/\w+/)app\.js"`)

// weigh measures the script and the style as a browser gets them: what the first screen waits for, and all.
func (d *dashboard) weigh(ctx context.Context, r *Result) error {
	document, err := fetch(ctx, d.url+"/signin", "identity")
	if err != nil {
		return err
	}
	base := assets.FindSubmatch(document)
	if base == nil {
		return errors.New("the document loads no script")
	}
	for _, part := range []struct {
		name  string
		files []string
	}{
		{"first", []string{"app.js", "first.js"}},
		{"script", []string{"app.js", "first.js", "look.js", "manage.js", "chunk.js"}},
		{"style", []string{"app.css"}},
	} {
		weight := 0
		for _, file := range part.files {
			text, err := fetch(ctx, d.url+string(base[1])+file, "gzip")
			if err != nil {
				return err
			}
			weight += len(text)
		}
		r.Figures[part.name+"_bytes"] = float64(weight)
		r.Lines = append(r.Lines, fmt.Sprintf("%-16s %8d bytes gzipped", part.name, weight))
	}
	return nil
}

// fetch returns a body as it was sent.
func fetch(ctx context.Context, url, encoding string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept-Encoding", encoding)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", url, response.StatusCode)
	}
	return io.ReadAll(response.Body)
}

package postgres_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/internal/testkit/tempdir"
	"github.com/answerscope/answerscope/sql/postgres"
)

// Who had a forgotten salt could try all addresses of a site's visitors. It was deleted, but was still in the table's
// pages and in the write-ahead log.
func TestAForgottenSaltIsInNoFile(t *testing.T) {
	t.Parallel()
	server := engine.PostgresConfig{
		Dir: tempdir.Passable(t), NoSync: true, Settings: []string{"full_page_writes=on"},
		Log: slog.New(slog.DiscardHandler),
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	tomorrow := today.AddDate(0, 0, 1)
	var live map[time.Time][]byte
	running(t, server, func(dsn string) {
		if err := postgres.Migrate(t.Context(), dsn, func(uint, string) {}); err != nil {
			t.Fatal(err)
		}
		db := open(t, dsn)
		live = saltsOf(t, db, today, tomorrow)
		db.Close()
		execute(t, dsn, "ANALYZE", "CHECKPOINT")
		if copied := dumped(t, dsn); has(copied, live[today]) {
			t.Error("a backup has a salt")
		}
	})
	if len(filesWith(t, server.Dir, live[today])) == 0 {
		t.Error("a salt that a restart must keep is in no file: this test would not find a forgotten one")
	}
	running(t, server, func(dsn string) {
		db := open(t, dsn)
		if reread := saltsOf(t, db, today, tomorrow); !reflect.DeepEqual(reread, live) {
			t.Errorf("a restart has changed %x to %x", live, reread)
		}
		execute(t, dsn, "UPDATE private.visitor_salts SET made_at = now() - interval '48 hours' WHERE day = '"+
			today.Format(time.DateOnly)+"'")
		if err := db.DropSalts(t.Context()); err != nil {
			t.Fatal(err)
		}
		db.Close()
		execute(t, dsn, "ANALYZE", "CHECKPOINT")
		if files := filesWith(t, server.Dir, live[today]); len(files) > 0 {
			t.Errorf("the forgotten salt is in %v", files)
		}
	})
	if files := filesWith(t, server.Dir, live[today]); len(files) > 0 {
		t.Errorf("after the server's end the forgotten salt is in %v", files)
	}
	if len(filesWith(t, server.Dir, live[tomorrow])) == 0 {
		t.Error("the other salt is gone, too")
	}
}

// pg_dump reads for hours. The salts that are needed are read beside it, and old ones are forgotten once it ends.
func TestALongReaderDelaysForgettingAlone(t *testing.T) {
	t.Parallel()
	c := store.ControlPlane(t)
	db := store.OpenControlPlane(t, c)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	old := saltsOf(t, db, today.AddDate(0, 0, -3), today)
	reader, err := connected(t, c.DSN).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), "LOCK TABLE private.visitor_salts IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	if err := db.DropSalts(t.Context()); err == nil {
		t.Error("salts were dropped beside a reader")
	}
	if now := saltsOf(t, db, today); !bytes.Equal(now[today], old[today]) {
		t.Error("today's salt has changed")
	}
	if err := errors.Join(reader.Rollback(t.Context()), db.DropSalts(t.Context())); err != nil {
		t.Fatal(err)
	}
	if left := one[int](t, connected(t, c.DSN), "SELECT count(*)::int FROM private.visitor_salts"); left != 1 {
		t.Errorf("%d salts are left, want today's", left)
	}
}

// running runs do on a server of its own, since a file of a shared one may be any test's.
func running(t *testing.T, cfg engine.PostgresConfig, do func(dsn string)) {
	t.Helper()
	server, err := engine.StartPostgres(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	do(server.DSN())
}

func execute(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	conn := connected(t, dsn)
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// filesWith are the files below dir that have a secret.
func filesWith(t *testing.T, dir string, secret []byte) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if has(content, secret) {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// has reports whether content has a secret as it is, in hexadecimal digits or in base64.
func has(content, secret []byte) bool {
	lower := []byte(hex.EncodeToString(secret))
	return bytes.Contains(content, secret) || bytes.Contains(content, lower) ||
		bytes.Contains(content, bytes.ToUpper(lower)) ||
		bytes.Contains(content, []byte(base64.RawStdEncoding.EncodeToString(secret))) ||
		bytes.Contains(content, []byte(base64.RawURLEncoding.EncodeToString(secret)))
}

// dumped is what a backup has of PostgreSQL.
func dumped(t *testing.T, dsn string) []byte {
	t.Helper()
	var all writer
	if err := postgres.Dump(t.Context(), dsn, func(string) (io.WriteCloser, error) { return &all, nil }); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

type writer struct{ bytes.Buffer }

func (*writer) Close() error { return nil }

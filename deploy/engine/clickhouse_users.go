package engine

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// usersEvery is how often the owner of a ClickHouse looks into its users.d.
const usersEvery = 300 * time.Millisecond

func clickHouseDir(dataDir string) string { return filepath.Join(dataDir, "clickhouse") }

func usersDir(dir string) string { return filepath.Join(dir, "users.d") }

// ClickHouseUsersDir is where the embedded ClickHouse of a data directory finds
// users beside its own, one XML file each. Whoever owns the engines restarts it
// within a second when a file there changes: this engine, unlike a server, reads
// users only when it starts.
func ClickHouseUsersDir(dataDir string) string { return usersDir(clickHouseDir(dataDir)) }

// keepClickHouse starts the ClickHouse of running[i] again, at the same address,
// whenever the files of users.d are others than it has read, and closes lost when
// it ends unasked.
func (s *Set) keepClickHouse(ctx context.Context, i int, c *ClickHouse) {
	look := time.NewTicker(usersEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Done():
			if ctx.Err() == nil {
				s.lose(c.Err())
			}
			return
		case <-look.C:
		}
		if !c.usersChanged() {
			continue
		}
		next, err := c.restart(ctx)
		if err != nil {
			if ctx.Err() == nil {
				s.lose(fmt.Errorf("restart clickhouse for its users: %w", err))
			}
			return
		}
		c = next
		s.running[i] = next // Stop reads it after this function has returned
	}
}

// usersChanged tells whether users.d holds other files than c has read. Files that
// cannot be read, or are still being written, are left for the next look: an
// engine that refuses them would not come back.
func (c *ClickHouse) usersChanged() bool {
	dir := usersDir(c.cfg.Dir)
	now, err := usersListing(dir)
	if err != nil || now == c.users {
		return false
	}
	if err := wellFormed(dir); err != nil {
		c.cfg.Log.Warn("users are not read yet", "engine", "clickhouse", "error", err, "next", "nothing while the file is being written; else correct it")
		return false
	}
	return true
}

// finishBound is what queries under way get when the engine is to be started again.
// By itself it would wait 5 s for them, and everybody else for it.
const finishBound = time.Second

// restart ends the engine and starts it again with the same files and ports. One
// that does not end in time is killed, as a crash might at any moment: what was
// acknowledged is on the disk, and what was not is sent again.
func (c *ClickHouse) restart(ctx context.Context) (*ClickHouse, error) {
	c.cfg.Log.Info("restarting engine for its users", "engine", "clickhouse")
	finish, done := context.WithTimeout(ctx, finishBound)
	defer done()
	if err := c.Stop(finish); err != nil {
		c.cfg.Log.Info("queries were cut off", "engine", "clickhouse", "error", err)
	}
	return StartClickHouse(ctx, c.cfg)
}

// acceptedUsers keeps the listing of the files that the engine has started with.
func acceptedUsers(dir string) string { return filepath.Join(dir, "users.accepted") }

func (c *ClickHouse) acceptUsers() error {
	return replaceFile(acceptedUsers(c.cfg.Dir), []byte(c.users), 0o600)
}

// startWithoutNewUsers starts an engine that has just refused to. Files of users.d that it has never started with may
// be why: one mistake in one of them, and it reads nothing at all. They are put aside, each under its name and .refused,
// and put back if the engine does not start without them either.
func startWithoutNewUsers(ctx context.Context, cfg ClickHouseConfig, cause error) (*ClickHouse, error) {
	dir := usersDir(cfg.Dir)
	accepted, err := os.ReadFile(acceptedUsers(cfg.Dir))
	if err != nil {
		return nil, cause // nothing is known of any
	}
	var aside []string
	err = eachUsersFile(dir, func(entry fs.DirEntry) error {
		line, err := usersLine(entry)
		if err != nil || bytes.Contains(accepted, []byte(line)) {
			return err
		}
		path := filepath.Join(dir, entry.Name())
		aside = append(aside, path)
		return os.Rename(path, path+refused)
	})
	if err != nil || len(aside) == 0 {
		return nil, errors.Join(cause, err)
	}
	c, err := startClickHouse(ctx, cfg)
	if err != nil {
		for _, path := range aside {
			err = errors.Join(err, os.Rename(path+refused, path))
		}
		return nil, errors.Join(cause, err)
	}
	cfg.Log.Error("users are refused and put aside", "engine", "clickhouse", "files", aside, "cause", cause,
		"next", "correct the files, whose names end in "+refused+" now, and give them their names back; nobody in them can log in meanwhile")
	return c, nil
}

// refused ends the name of a file that was put aside.
const refused = ".refused"

// usersListing names the files of a users.d that the engine reads, with what
// changes when they do.
func usersListing(dir string) (string, error) {
	var listing strings.Builder
	err := eachUsersFile(dir, func(entry fs.DirEntry) error {
		line, err := usersLine(entry)
		listing.WriteString(line)
		return err
	})
	return listing.String(), err
}

func usersLine(entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %d\n", entry.Name(), info.Size(), info.ModTime().UnixNano()), nil
}

// wellFormed says which XML file of a users.d is none.
func wellFormed(dir string) error {
	return eachUsersFile(dir, func(entry fs.DirEntry) error {
		if filepath.Ext(entry.Name()) != ".xml" {
			return nil
		}
		file, err := os.Open(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		defer file.Close()
		for decoder, tokens := xml.NewDecoder(file), 0; ; tokens++ {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) && tokens > 0 {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", file.Name(), err)
			}
		}
	})
}

// eachUsersFile visits what the engine takes for configuration, by name; nothing
// when there is no such directory.
func eachUsersFile(dir string, visit func(fs.DirEntry) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list users: %w", err)
	}
	for _, entry := range entries {
		switch filepath.Ext(entry.Name()) {
		case ".xml", ".conf", ".yaml", ".yml":
		default:
			continue
		}
		if strings.HasPrefix(entry.Name(), ".") || entry.IsDir() {
			continue
		}
		if err := visit(entry); err != nil {
			return fmt.Errorf("read users: %w", err)
		}
	}
	return nil
}

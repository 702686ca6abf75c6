package engine

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	usersInterval = 300 * time.Millisecond // between checks of users.d
	drainTimeout  = time.Second            // for running queries before a restart; the engine itself waits 5 s
	refused       = ".refused"             // suffix of a file with which the engine did not start
)

func clickHouseDir(dataDir string) string { return filepath.Join(dataDir, "clickhouse") }

func usersDir(dir string) string { return filepath.Join(dir, "users.d") }

// ClickHouseUsersDir is the directory of additional users of a data directory's ClickHouse, one XML file each. The
// owner of the engines restarts it within a second after a change: unlike a server, this engine reads users only at its
// start.
func ClickHouseUsersDir(dataDir string) string { return usersDir(clickHouseDir(dataDir)) }

// usersChanged reports whether users.d has changed since the start. Files that cannot be read, or are still being
// written, wait for the next check: the engine would not start with them.
func (c *ClickHouse) usersChanged() bool {
	dir := usersDir(c.cfg.Dir)
	now, err := usersListing(dir)
	if err != nil || now == c.users {
		return false
	}
	if err := wellFormed(dir); err != nil {
		c.cfg.Log.Warn("users are not read yet", "engine", "clickhouse", "error", err,
			"next", "nothing while the file is being written; else correct it")
		return false
	}
	return true
}

// drain ends the engine before a restart, and kills it after a timeout: acknowledged rows are on the disk, and others
// are sent again.
func (c *ClickHouse) drain(ctx context.Context) {
	c.cfg.Log.Info("restarting engine", "engine", "clickhouse")
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		c.cfg.Log.Info("queries were cut off", "engine", "clickhouse", "error", err)
	}
}

func (c *ClickHouse) restart(ctx context.Context) (child, error) { return StartClickHouse(ctx, c.cfg) }

// acceptedUsers has the listing of users.d at the last successful start.
func acceptedUsers(dir string) string { return filepath.Join(dir, "users.accepted") }

// startWithoutNewUsers retries a failed start, perhaps caused by a mistake in a new file of users.d, without these
// files. They get the suffix .refused, and their names back if the engine does not start without them either.
func startWithoutNewUsers(ctx context.Context, cfg ClickHouseConfig, cause error) (*ClickHouse, error) {
	dir := usersDir(cfg.Dir)
	accepted, err := os.ReadFile(acceptedUsers(cfg.Dir))
	if err != nil {
		return nil, cause // it has never started
	}
	files, err := usersFiles(dir)
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	var renamed []string
	for _, f := range files {
		if bytes.Contains(accepted, []byte(f.line)) {
			continue
		}
		if err := os.Rename(f.path, f.path+refused); err != nil {
			return nil, errors.Join(cause, err)
		}
		renamed = append(renamed, f.path)
	}
	if len(renamed) == 0 {
		return nil, cause
	}
	c, err := startClickHouse(ctx, cfg)
	if err != nil {
		for _, path := range renamed {
			err = errors.Join(err, os.Rename(path+refused, path))
		}
		return nil, errors.Join(cause, err)
	}
	cfg.Log.Error("files of users are refused and renamed", "engine", "clickhouse", "files", renamed, "cause", cause,
		"next", "correct the files, whose names end in "+refused+" now, and give them their names back; "+
			"their users cannot log in meanwhile")
	return c, nil
}

// usersFile is a file of users.d. Its line has the name, the size and the time of the last change.
type usersFile struct{ path, line string }

// usersListing joins the lines of the files of a users.d.
func usersListing(dir string) (string, error) {
	files, err := usersFiles(dir)
	var listing strings.Builder
	for _, f := range files {
		listing.WriteString(f.line)
	}
	return listing.String(), err
}

// usersFiles lists the files that the engine reads as configuration, by name; none if there is no such directory.
func usersFiles(dir string) ([]usersFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list users: %w", err)
	}
	var files []usersFile
	for _, entry := range entries {
		name := entry.Name()
		read := slices.Contains([]string{".xml", ".conf", ".yaml", ".yml"}, filepath.Ext(name))
		if !read || strings.HasPrefix(name, ".") || entry.IsDir() {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, fmt.Errorf("read users: %w", err)
		}
		line := fmt.Sprintf("%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		files = append(files, usersFile{filepath.Join(dir, name), line})
	}
	return files, nil
}

// wellFormed returns an error for the first XML file of a users.d that is malformed.
func wellFormed(dir string) error {
	files, err := usersFiles(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if filepath.Ext(f.path) != ".xml" {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err == nil {
			err = xml.Unmarshal(text, new(struct{}))
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", f.path, err)
		}
	}
	return nil
}

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
	usersInterval = 300 * time.Millisecond // how often the owner of a ClickHouse looks into its users.d
	drainTimeout  = time.Second            // for running queries before a restart; by itself the engine waits 5 s
	refused       = ".refused"             // ends the name of a file that the engine did not start with
)

func clickHouseDir(dataDir string) string { return filepath.Join(dataDir, "clickhouse") }

func usersDir(dir string) string { return filepath.Join(dir, "users.d") }

// ClickHouseUsersDir is where the embedded ClickHouse of a data directory finds users beside its own, one XML file
// each. The owner of the engines restarts it within a second when a file there changes: this engine, unlike a server,
// reads users only when it starts.
func ClickHouseUsersDir(dataDir string) string { return usersDir(clickHouseDir(dataDir)) }

// usersChanged says whether users.d holds other files than c has read. Files that cannot be read, or are still being
// written, wait for the next look: an engine that refuses them would not come back.
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

// drain ends the engine, to start it again. One that does not end in time is killed: what was acknowledged is on the
// disk, and what was not is sent again.
func (c *ClickHouse) drain(ctx context.Context) {
	c.cfg.Log.Info("restarting engine", "engine", "clickhouse")
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		c.cfg.Log.Info("queries were cut off", "engine", "clickhouse", "error", err)
	}
}

func (c *ClickHouse) again(ctx context.Context) (child, error) { return StartClickHouse(ctx, c.cfg) }

// acceptedUsers keeps the listing of the files that the engine last started with.
func acceptedUsers(dir string) string { return filepath.Join(dir, "users.accepted") }

// startWithoutNewUsers starts an engine that has just failed to start, perhaps by a mistake in a file of users.d that
// it has never started with. These get the suffix .refused, and their names back if it does not start without them
// either.
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
		"next", "correct the files, whose names end in "+refused+" now, and give them their names back; their users cannot log in meanwhile")
	return c, nil
}

// usersFile is a file of users.d. Its line has the name and what changes with the content.
type usersFile struct{ path, line string }

// usersListing is the lines of the files of a users.d.
func usersListing(dir string) (string, error) {
	files, err := usersFiles(dir)
	var listing strings.Builder
	for _, f := range files {
		listing.WriteString(f.line)
	}
	return listing.String(), err
}

// usersFiles are the files that the engine reads as configuration, by name; none when there is no such directory.
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

// wellFormed returns an error for the first file of a users.d that is no XML and should be.
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

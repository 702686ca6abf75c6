package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/disk"
)

// Errors of AddAnalyst and RemoveAnalyst.
var (
	ErrNoAnalyst     = errors.New("there is no such analyst")
	ErrAnalystExists = errors.New("the analyst exists already")
)

// AddAnalyst writes an analyst's file into a server's users.d.
func AddAnalyst(dir string, a Analyst) error {
	text, err := a.Configuration()
	if err != nil {
		return err
	}
	if _, err = os.Stat(analystPath(dir, a)); err == nil {
		err = ErrAnalystExists
	} else if errors.Is(err, fs.ErrNotExist) {
		err = writeAnalyst(dir, a, text)
	}
	if err != nil {
		return fmt.Errorf("add analyst %s: %w", a.Login(), err)
	}
	return nil
}

// RemoveAnalyst removes the file of an analyst, by name and the slug of the organization.
func RemoveAnalyst(dir, organization, name string) (Analyst, error) {
	analysts, err := ListAnalysts(dir)
	if err != nil {
		return Analyst{}, err
	}
	i := slices.IndexFunc(analysts, func(a Analyst) bool { return a.Organization == organization && a.Name == name })
	if i < 0 {
		return Analyst{}, fmt.Errorf("remove analyst %s of %s: %w", name, organization, ErrNoAnalyst)
	}
	if err := os.Remove(analystPath(dir, analysts[i])); err != nil {
		return Analyst{}, fmt.Errorf("remove analyst %s of %s: %w", name, organization, err)
	}
	return analysts[i], nil
}

// ListAnalysts reads every analyst's file of a users.d, by login; none where there is no such directory.
func ListAnalysts(dir string) ([]Analyst, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list analysts: %w", err)
	}
	var analysts []Analyst
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), "analyst_") || filepath.Ext(entry.Name()) != ".xml" {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read analyst: %w", err)
		}
		a, err := readAnalyst(text)
		switch {
		case errors.Is(err, errForeign):
			continue
		case err != nil:
			return nil, fmt.Errorf("read analyst %s: %w", path, err)
		case analystPath(dir, a) != path:
			return nil, fmt.Errorf("read analyst %s: it is that of %s", path, a.Login())
		}
		analysts = append(analysts, a)
	}
	return analysts, nil
}

// RenewAnalysts writes every analyst's file of a users.d again that differs in this release, and returns their logins:
// tables, views and limits come with a release.
func RenewAnalysts(dir string) ([]string, error) {
	analysts, err := ListAnalysts(dir)
	if err != nil {
		return nil, err
	}
	var renewed []string
	for _, a := range analysts {
		text, err := a.Configuration()
		if err != nil {
			return renewed, err
		}
		old, err := os.ReadFile(analystPath(dir, a))
		if err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := errors.Join(err, writeAnalyst(dir, a, text)); err != nil {
			return renewed, fmt.Errorf("renew analyst %s: %w", a.Login(), err)
		}
		renewed = append(renewed, a.Login())
	}
	return renewed, nil
}

func analystPath(dir string, a Analyst) string { return filepath.Join(dir, a.Login()+".xml") }

// writeAnalyst writes a file in one step, since the server may read it at any time. A server of another system user must
// read it too: only long random passwords are used, whose hash is of no use.
func writeAnalyst(dir string, a Analyst, text []byte) error {
	return disk.ReplaceFile(analystPath(dir, a), text, 0o644)
}

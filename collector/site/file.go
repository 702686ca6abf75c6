package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/answerscope/answerscope/sql/postgres"
)

// The file is one line of JSON below a line with its kind and the SHA-256 of the rest: a list that was cut short must
// not pass for one of fewer domains.
const fileTitle = "answerscope sites 1 "

// save replaces the file; after a crash it is the old one or the new one.
func save(path string, rows []postgres.Site) error {
	body, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encode sites: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save sites: %w", err)
	}
	next := path + ".new" // one name: a process that is killed here leaves one file, however often
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("save sites: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s%x\n%s\n", fileTitle, sum, body)
	if err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return fmt.Errorf("save sites: %w", err)
	}
	return nil
}

// load reads what save wrote; nil without an error where there is no file.
func load(path string) ([]postgres.Site, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sites: %w", err)
	}
	rows, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read sites %s: %w", path, err)
	}
	return rows, nil
}

func parse(text []byte) ([]postgres.Site, error) {
	head, body, _ := bytes.Cut(text, []byte{'\n'})
	sum, ok := bytes.CutPrefix(head, []byte(fileTitle))
	if !ok {
		return nil, errors.New("not a list of sites")
	}
	body = bytes.TrimSuffix(body, []byte{'\n'})
	if is := sha256.Sum256(body); hex.EncodeToString(is[:]) != string(sum) {
		return nil, errors.New("the list is damaged")
	}
	rows := []postgres.Site{}
	if err := json.Unmarshal(body, &rows); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return rows, nil
}

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

// The file is one line of JSON below a line that says what it is and the SHA-256 of
// the rest: a list that was cut short must not pass for one of fewer domains.
const fileTitle = "answerscope sites 1 "

// save puts rows in place of whatever the file says; after a crash it is the old file
// or the new one.
func save(path string, rows []postgres.Site) (err error) {
	body, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("encode sites: %w", err)
	}
	sum := sha256.Sum256(body)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save sites: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return fmt.Errorf("save sites: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("save sites: %w", err), os.Remove(f.Name()))
		}
	}()
	_, err = fmt.Fprintf(f, "%s%x\n%s\n", fileTitle, sum, body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
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
		return nil, errors.New("it is no list of sites")
	}
	body = bytes.TrimSuffix(body, []byte{'\n'})
	if is := sha256.Sum256(body); hex.EncodeToString(is[:]) != string(sum) {
		return nil, errors.New("it is damaged")
	}
	rows := []postgres.Site{}
	if err := json.Unmarshal(body, &rows); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return rows, nil
}

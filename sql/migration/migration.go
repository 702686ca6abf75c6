// Package migration lists and compares the numbered files that make a schema.
package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// ErrOtherFiles is returned for a schema that other files of the same numbers have made.
var ErrOtherFiles = errors.New("the schema is of a build between releases, which this one cannot upgrade: " +
	"export each organization with the build that made it, import into a new installation of this one " +
	"(docs/operations.md#upgrading); nothing was changed")

// A File is one file of migrate/.
type File struct {
	Version uint
	Name    string // without .up.sql
	Text    string
	Digest  string // of all files up to this one
}

// Files lists the files of migrate/ in order. It panics on a misnamed one, which is a mistake of the build.
func Files(files fs.FS) (all []File) {
	sum := sha256.New()
	paths, err := fs.Glob(files, "migrate/*.up.sql") // in order
	for _, file := range paths {
		name := strings.TrimSuffix(path.Base(file), ".up.sql")
		number, _, _ := strings.Cut(name, "_")
		version, numberErr := strconv.ParseUint(number, 10, 32)
		text, readErr := fs.ReadFile(files, file)
		err = errors.Join(err, numberErr, readErr)
		fmt.Fprintf(sum, "%s\n%s\n", name, text)
		all = append(all, File{uint(version), name, string(text), hex.EncodeToString(sum.Sum(nil))})
	}
	if err != nil {
		panic(err)
	}
	return all
}

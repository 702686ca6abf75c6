// Package schema brings the schema of ClickHouse up, on one server or on every server of a cluster: the numbered
// migrations, then the functions and the named views as they are in this binary. It also writes the files by which
// a server knows its analysts, who read the tables and views of the schema, each the rows of one organization.
package schema

import (
	"io/fs"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// files are this release's; a test puts another release's in their place.
var files fs.FS = clickhouse.Files

// mustRead panics on a missing file: that is a build mistake.
func mustRead(path string) string {
	text, err := fs.ReadFile(files, path)
	if err != nil {
		panic(err)
	}
	return string(text)
}

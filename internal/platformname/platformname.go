// Package platformname has the names of AI platforms as people know them: of those that are asked, of the simulator's,
// and of those that send visits.
package platformname

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
)

//go:embed names.json
var table []byte

// names are the names by slug. A table that cannot be read shows slugs, and fails the test.
var names = func() (names map[string]string) {
	_ = json.Unmarshal(table, &names)
	return names
}()

// Of returns the name of a platform; one that is not in the table is its slug.
func Of(slug string) string { return cmp.Or(names[slug], slug) }

// JSON returns the names by slug as one JSON object.
func JSON() string {
	var text bytes.Buffer
	_ = json.Compact(&text, table)
	return text.String()
}

package postgres

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the most bytes of a name.
const MaxName = 512

// IsName reports whether brands, competitors, topics, keys and the like may have the name, as private.is_name does. A
// name with controls, or with what turns the direction of text, could be shown as another one.
func IsName(name string) bool {
	return len(name) <= MaxName && strings.Trim(name, " ") != "" && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

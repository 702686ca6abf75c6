package clickhouse

import "strings"

// QuoteText makes a text a literal.
func QuoteText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// QuoteName makes a name an identifier.
func QuoteName(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

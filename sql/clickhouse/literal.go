package clickhouse

import (
	"context"
	"strings"
)

// QuoteText makes a text a literal.
func QuoteText(text string) string { return quote(text) }

// QuoteName makes a name an identifier.
func QuoteName(name string) string { return quoted(name) }

// CurrentDatabase is the database of a connection.
func CurrentDatabase(ctx context.Context, conn *Conn) (string, error) {
	return currentDatabase(ctx, conn)
}

func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

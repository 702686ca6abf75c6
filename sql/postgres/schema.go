package postgres

import (
	"context"
	"fmt"
	"strings"
)

// schemaObject is a table, function, schema or role with all that was said of it.
type schemaObject struct {
	Name string `db:"name"`
	Text string `db:"text"`
}

var (
	schemaRoles     = query[struct{}, schemaObject]("schema_roles")
	schemaSchemas   = query[struct{}, schemaObject]("schema_schemas")
	schemaTables    = query[struct{}, schemaObject]("schema_tables")
	schemaFunctions = query[struct{}, schemaObject]("schema_functions")
)

// Schema is the schema as the server tells it, in one text: roles, schemas, tables
// with all that hangs on them, and functions, by name.
func (db *DB) Schema(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, part := range []statement[struct{}, schemaObject]{schemaRoles, schemaSchemas, schemaTables, schemaFunctions} {
		objects, err := part.all(ctx, db, struct{}{})
		if err != nil {
			return "", err
		}
		for _, o := range objects {
			fmt.Fprintf(&b, "-- %s\n%s\n\n", o.Name, strings.TrimSpace(o.Text))
		}
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}

package postgres

import (
	"context"
	"fmt"
	"strings"
)

// schemaObject is a table, function, schema or role with the statements that make it.
type schemaObject struct {
	Name string `db:"name"`
	Text string `db:"text"`
}

var (
	schemaRoles     = query[none, schemaObject]("schema_roles")
	schemaSchemas   = query[none, schemaObject]("schema_schemas")
	schemaTables    = query[none, schemaObject]("schema_tables")
	schemaFunctions = query[none, schemaObject]("schema_functions")
)

// Schema is the server's schema in one text: roles, schemas, tables with their indexes, triggers and policies, and
// functions, by name.
func (db *DB) Schema(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, part := range []statement[none, schemaObject]{schemaRoles, schemaSchemas, schemaTables, schemaFunctions} {
		objects, err := part.all(ctx, db, none{})
		if err != nil {
			return "", err
		}
		for _, o := range objects {
			fmt.Fprintf(&b, "-- %s\n%s\n\n", o.Name, strings.TrimSpace(o.Text))
		}
	}
	return strings.TrimSpace(b.String()) + "\n", nil
}

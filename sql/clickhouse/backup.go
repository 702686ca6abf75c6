package clickhouse

import (
	"context"
	"fmt"
)

// Backup writes the database into a directory of that name below the server's backups.allowed_path.
func Backup(ctx context.Context, conn *Conn, database, name string) error {
	return conn.backup(ctx, "back up", fmt.Sprintf("BACKUP DATABASE %s TO File('%s')", database, name))
}

// Restore fills the database, which must have no tables, with what Backup wrote.
func Restore(ctx context.Context, conn *Conn, database, name string) error {
	return conn.backup(ctx, "restore", fmt.Sprintf("RESTORE DATABASE %s FROM File('%s')", database, name))
}

func (c *Conn) backup(ctx context.Context, what, statement string) error {
	if err := c.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s clickhouse: %w", what, err)
	}
	return nil
}

package postgres

import "context"

// RunningCommands returns each command of answerscope with a connection to the database, in any process, once: such as
// "pipeline" or "crawlers import", also this process's.
func (db *DB) RunningCommands(ctx context.Context) ([]string, error) {
	return queryAll[string](ctx, db, "running_commands")
}

package postgres

import "context"

// A RunningCommand is a command of answerscope with a connection to the database, in any process.
type RunningCommand struct {
	Command string `db:"command"` // such as "pipeline" or "crawlers import"
	Shards  int    `db:"shards"`  // of ClickHouse, as its settings have them; 0: without shards
}

// RunningCommands returns each command once for each number of shards, also this process's.
func (db *DB) RunningCommands(ctx context.Context) ([]RunningCommand, error) {
	return queryAll[RunningCommand](ctx, db, "running_commands")
}

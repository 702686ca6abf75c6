package engine

import "path/filepath"

// backupsDir is the only directory in which the embedded ClickHouse writes and reads backups.
func backupsDir(clickHouseDir string) string { return filepath.Join(clickHouseDir, "data", "backups") }

// BackupDir returns the directory of a named backup of the ClickHouse of a data directory.
func BackupDir(dataDir, name string) string {
	return filepath.Join(backupsDir(clickHouseDir(dataDir)), name)
}

// GiveBackup lets the ClickHouse of a data directory read the backups there.
func GiveBackup(dataDir string) error {
	a, err := chooseAccount(clickHouseDir(dataDir), clickHouseUID)
	if err != nil || a.closed != "" { // then it runs as our own user
		return err
	}
	return a.give(backupsDir(clickHouseDir(dataDir)))
}

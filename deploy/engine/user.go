package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// unprivileged is nobody's uid and gid on every system we know.
const unprivileged = 65534

// chooseUser returns who an engine that refuses root runs as, and gives dir to
// that user: ourselves, or under root the user who has dir already, or nobody.
func chooseUser(dir string) (int, error) {
	if os.Getuid() != 0 {
		return os.Getuid(), nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return 0, err
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != 0 {
		return uid, nil
	}
	return unprivileged, os.Chown(dir, unprivileged, unprivileged)
}

// runAs returns the attributes of a process of user uid that works in dirs, all
// of which the user must reach.
func runAs(uid int, dirs ...string) (*syscall.SysProcAttr, error) {
	if uid == os.Getuid() {
		return &syscall.SysProcAttr{}, nil
	}
	attr := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	for _, dir := range dirs {
		closed, err := closedParent(uid, dir)
		if err != nil {
			return nil, err
		}
		if closed != "" && !passClosed(attr) {
			return nil, fmt.Errorf("directory %s is closed to uid %d, which runs PostgreSQL because it refuses root: "+
				"chmod o+x %s, or use another --data-dir, or give the address of a server in ANSWERSCOPE_POSTGRES_DSN", closed, uid, closed)
		}
	}
	return attr, nil
}

// closedParent returns the directory above path that uid may not pass, if any.
func closedParent(uid int, path string) (string, error) {
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return "", err
		}
		owner := int(info.Sys().(*syscall.Stat_t).Uid)
		if info.Mode()&0o001 == 0 && (owner != uid || info.Mode()&0o100 == 0) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}

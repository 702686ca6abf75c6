package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// unprivileged is nobody's uid and gid on every system we know.
const unprivileged = 65534

// account is whom an engine that refuses root runs as.
type account struct {
	uid     int
	attr    syscall.SysProcAttr
	viaSelf bool // its programs are closed to it until passClosed's capability works
}

// chooseAccount returns the account of an engine that keeps dir and uses the
// other directories: ourselves, or under root the user who has dir already, or
// nobody, who is given dir.
func chooseAccount(dir string, others ...string) (*account, error) {
	if os.Getuid() != 0 {
		return &account{uid: os.Getuid()}, nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	a := &account{uid: int(info.Sys().(*syscall.Stat_t).Uid)}
	if a.uid == 0 {
		a.uid = unprivileged
		if err := os.Chown(dir, a.uid, a.uid); err != nil {
			return nil, err
		}
	}
	a.attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.uid)}
	for _, d := range append(others, dir) {
		closed, err := closedParent(a.uid, d)
		if err != nil {
			return nil, err
		}
		if closed == "" || a.viaSelf {
			continue
		}
		if a.viaSelf = passClosed(&a.attr); !a.viaSelf {
			return nil, fmt.Errorf("directory %s is closed to uid %d, which runs PostgreSQL because it refuses root: "+
				"chmod o+x %s, or use another --data-dir, or give the address of a server in ANSWERSCOPE_POSTGRES_DSN", closed, a.uid, closed)
		}
	}
	return a, nil
}

// command is a program run as the account, in directory dir.
func (a *account) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	attr := a.attr
	if a.viaSelf {
		args = append([]string{execChild, dir, program}, args...)
		dir, program = "/", "/proc/self/exe"
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.SysProcAttr = dir, &attr
	return cmd
}

// runExec becomes a program in a directory. It is the step between a fork, whose
// capabilities are not in effect until an exec, and a program that could not be
// reached without them; our own file is always within reach at /proc/self/exe.
func runExec(dir string, command []string) error {
	if len(command) == 0 {
		return fmt.Errorf("usage: %s DIR COMMAND ARG…", execChild)
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := syscall.Exec(command[0], command, os.Environ()); err != nil {
		return fmt.Errorf("exec %s: %w", command[0], err)
	}
	return nil
}

// closedParent returns the directory at or above path that uid may not pass, if
// there is one.
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

package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// unprivileged is the uid and gid of the user nobody on every system we know.
const unprivileged = 65534

// account is the user that an engine which refuses root runs as.
type account struct {
	uid        int
	root       bool // we are root, the account is not
	closed     bool // its programs or data are below a directory that is closed to it
	capability int  // passes that directory
}

// chooseAccount returns the account of an engine that keeps dir and uses the other directories: our own user, or under
// root the owner of dir, or the user nobody, who then becomes the owner of dir.
func chooseAccount(dir string, others ...string) (*account, error) {
	if os.Getuid() != 0 {
		return &account{uid: os.Getuid()}, nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	a := &account{uid: int(info.Sys().(*syscall.Stat_t).Uid), root: true}
	if a.uid == 0 {
		a.uid = unprivileged
		if err := os.Chown(dir, a.uid, a.uid); err != nil {
			return nil, err
		}
	}
	for _, d := range append(others, dir) {
		closed, err := closedParent(a.uid, d)
		if err != nil {
			return nil, err
		}
		if closed == "" || a.closed {
			continue
		}
		if a.capability, a.closed = passCapability(); !a.closed {
			return nil, fmt.Errorf("directory %s is closed to uid %d, which runs PostgreSQL because it refuses root: "+
				"chmod o+x %s, or use another --data-dir, or give the address of a server in ANSWERSCOPE_POSTGRES_DSN", closed, a.uid, closed)
		}
	}
	return a, nil
}

// execAs says how runExec becomes a program.
type execAs struct {
	UID        int
	Capability int
	Dir        string
	Parent     int            // pid; it ends if that is no longer its parent
	OnDeath    syscall.Signal // sent to it when the parent dies
}

// command is a program run as the account, in directory dir. onDeath is the signal that it will be spawned with.
func (a *account) command(onDeath syscall.Signal, dir, program string, args ...string) (*exec.Cmd, error) {
	if !a.closed {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		if a.root {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.uid)}}
		}
		return cmd, nil
	}
	as, err := json.Marshal(execAs{UID: a.uid, Capability: a.capability, Dir: dir, Parent: os.Getpid(), OnDeath: onDeath})
	if err != nil {
		return nil, err
	}
	return selfCommand(append([]string{execChild, string(as), program}, args...)...)
}

// closedParent returns the directory at or above path that uid may not pass; "" if it may pass all.
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

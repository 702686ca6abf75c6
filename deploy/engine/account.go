package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The users and groups of the engines when we are root: ids that no system gives to people, services or containers
// (systemd, UIDS-GIDS: 60706 to 61183 are unused).
const (
	clickHouseUID = 60811
	postgresUID   = 60812
)

// nobody is the user that PostgreSQL once ran as.
const nobody = 65534

// account is the user that an engine runs as.
type account struct {
	uid    int
	gid    int    // of its own group, under root
	dir    string // the engine's
	root   bool   // we are root, the account is not
	closed string // the directory above dir that is closed to the account, so that dir is entered by us; "": none
}

// chooseAccount returns the account of an engine that keeps dir: our own user, or under root the one with id own, or
// whom somebody has made the owner of dir. What the account writes, directory data, becomes its own; the rest stays
// ours.
func chooseAccount(dir string, own int) (*account, error) {
	if os.Getuid() != 0 {
		return &account{uid: os.Getuid(), dir: dir}, nil
	}
	a := &account{dir: dir, root: true}
	owner, err := ownerOf(dir)
	if err != nil {
		return nil, err
	}
	if a.uid, a.gid = owner, owner; owner == 0 || owner == nobody {
		a.uid, a.gid = own, own
		if err := os.Chown(dir, 0, own); err != nil {
			return nil, fmt.Errorf("give %s to the engine's user: %w", dir, err)
		}
	}
	if err := errors.Join(a.share(dir), a.give(filepath.Join(dir, "data"))); err != nil {
		return nil, err
	}
	if a.closed, err = closedParent(a.uid, filepath.Dir(dir)); err == nil && a.closed != "" && !entersClosed {
		err = fmt.Errorf("directory %s is closed to uid %d, which runs an engine: chmod o+x %s, or use another --data-dir, "+
			"or give the address of a server", a.closed, a.uid, a.closed)
	}
	return a, err
}

// stayRoot is root in place of the account, which becomes the owner of all data again once it can be the account.
func (a *account) stayRoot() (*account, error) {
	err := os.Chown(filepath.Join(a.dir, "data"), 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return &account{dir: a.dir}, err
}

// share lets the account read files of ours, and pass directories.
func (a *account) share(paths ...string) error {
	if !a.root {
		return nil
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o040
		if info.IsDir() {
			mode |= 0o010
		}
		if err := errors.Join(os.Chown(path, -1, a.gid), os.Chmod(path, mode)); err != nil {
			return fmt.Errorf("share %s with the engine's user: %w", path, err)
		}
	}
	return nil
}

// give makes the account the owner of a directory and of everything in it. The directory itself comes last: it says
// that the rest is done.
func (a *account) give(dir string) error {
	owner, err := ownerOf(dir)
	if !a.root || owner == a.uid || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(dir)
	}
	if err != nil {
		return fmt.Errorf("give %s to the engine's user: %w", dir, err)
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		return root.Lchown(path, a.uid, a.gid)
	})
	if err == nil {
		err = os.Lchown(dir, a.uid, a.gid)
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return fmt.Errorf("give %s to the engine's user: %w", dir, err)
	}
	return nil
}

// named is the account, or if it has no name the user nobody with its group, for programs that want to know their
// user's name.
func (a *account) named() *account {
	if _, err := user.LookupId(strconv.Itoa(a.uid)); !a.root || err == nil {
		return a
	}
	b := *a
	b.uid = nobody
	return &b
}

// programs is where common copies of programs are kept for accounts that may not reach the programs themselves.
var programs = "/var/cache/answerscope"

// reachable returns the directory of a package, or of a copy if the package is below a directory that is closed to the
// account: programs look for their files by absolute names.
func (a *account) reachable(pkg string) (string, error) {
	if !a.root {
		return pkg, nil
	}
	if closed, err := closedParent(a.uid, pkg); err != nil || closed == "" {
		return pkg, err
	}
	var of struct{ Name, Version string }
	if err := readJSON(filepath.Join(pkg, "package.json"), &of); err != nil {
		return "", err
	}
	common := filepath.Join(programs, strings.Trim(strings.ReplaceAll(of.Name, "/", "-"), "@")+"-"+of.Version)
	if _, err := os.Stat(common); err == nil {
		return common, nil
	}
	if err := os.MkdirAll(programs, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(programs, ".copy-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	err = errors.Join(os.CopyFS(fresh, os.DirFS(pkg)), os.Chmod(fresh, 0o755))
	if err == nil {
		err = os.Rename(fresh, common)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was faster
	}
	if err != nil {
		return "", fmt.Errorf("copy programs of an engine to %s, since %s is closed to uid %d: %w", common, pkg, a.uid, err)
	}
	return common, nil
}

// execAs says how runExec becomes a program.
type execAs struct {
	UID, GID int
	Parent   int            // pid; it ends if that is no longer its parent
	OnDeath  syscall.Signal // sent to it when the parent dies
}

// command is cmd run as the account, in directory dir. onDeath is the signal that it will be spawned with.
func (a *account) command(cmd *exec.Cmd, dir string, onDeath syscall.Signal) (*exec.Cmd, error) {
	if a.closed != "" {
		as, err := json.Marshal(execAs{UID: a.uid, GID: a.gid, Parent: os.Getpid(), OnDeath: onDeath})
		if err != nil {
			return nil, err
		}
		if cmd, err = selfCommand(append([]string{execChild, string(as), cmd.Path}, cmd.Args...)...); err != nil {
			return nil, err
		}
	} else if a.root {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}}
	}
	cmd.Dir, cmd.Env = dir, engineEnv()
	return cmd, nil
}

// engineEnv is the environment of every engine: none of our secrets, nor of the variables of its clients (PGDATA,
// PGPORT…).
func engineEnv() []string { return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"} }

func ownerOf(path string) (uid int, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	return int(info.Sys().(*syscall.Stat_t).Uid), nil
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

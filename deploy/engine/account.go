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

// The users and groups of the engines under root: ids that no system gives to people, services or containers (systemd,
// UIDS-GIDS: 60706 to 61183 are unused).
const (
	clickHouseUID = 60811
	postgresUID   = 60812
)

// nobodyUID is the user of PostgreSQL in earlier releases.
const nobodyUID = 65534

// account is the user that an engine runs as.
type account struct {
	uid    int
	gid    int    // its own group, under root
	dir    string // of the engine
	root   bool   // this process is root, and the account is not
	closed string // a directory above dir that the account cannot pass, so this process enters dir for it; "": none
}

// chooseAccount returns the account of an engine in dir: the process's user, or under root the owner of dir, or by
// default the user engineUID. The account becomes the owner of the directory data, in which it writes.
func chooseAccount(dir string, engineUID int) (*account, error) {
	if os.Getuid() != 0 {
		return &account{uid: os.Getuid(), dir: dir}, nil
	}
	a := &account{dir: dir, root: true}
	owner, err := ownerOf(dir)
	if err != nil {
		return nil, err
	}
	if a.uid, a.gid = owner, owner; owner == 0 || owner == nobodyUID {
		a.uid, a.gid = engineUID, engineUID
		if err := os.Chown(dir, 0, engineUID); err != nil {
			return nil, fmt.Errorf("give %s to the engine's user: %w", dir, err)
		}
	}
	if err := errors.Join(a.share(dir), a.give(filepath.Join(dir, "data"))); err != nil {
		return nil, err
	}
	if a.closed, err = closedParent(a.uid, filepath.Dir(dir)); err == nil && a.closed != "" && !canEnterClosed {
		err = fmt.Errorf("directory %[1]s is closed to uid %[2]d, which runs an engine: chmod o+x %[1]s, "+
			"or use another --data-dir, or give the address of a server", a.closed, a.uid)
	}
	return a, err
}

// stayRoot returns root as the account. The account becomes the owner of the data again once the directory is open.
func (a *account) stayRoot() (*account, error) {
	err := os.Chown(filepath.Join(a.dir, "data"), 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return &account{dir: a.dir}, err
}

// share lets the account read files of this process, and pass directories.
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

// give makes the account the owner of a directory and of everything in it. The directory itself comes last, as the mark
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

// withName returns the account or, if it has no name, user 65534 with its group, for programs that look up the
// name of their user.
func (a *account) withName() *account {
	if _, err := user.LookupId(strconv.Itoa(a.uid)); !a.root || err == nil {
		return a
	}
	b := *a
	b.uid = nobodyUID
	return &b
}

// programCopies is the directory of copied programs, for accounts that cannot reach the programs themselves.
var programCopies = "/var/cache/answerscope"

// reachable returns the directory of a package, or of its copy if the account cannot pass a directory above: programs
// look for their files by absolute names.
func (a *account) reachable(pkg string) (string, error) {
	if !a.root {
		return pkg, nil
	}
	if closed, err := closedParent(a.uid, pkg); err != nil || closed == "" {
		return pkg, err
	}
	var manifest struct{ Name, Version string }
	if err := readJSON(filepath.Join(pkg, "package.json"), &manifest); err != nil {
		return "", err
	}
	name := strings.Trim(strings.ReplaceAll(manifest.Name, "/", "-"), "@") + "-" + manifest.Version
	shared := filepath.Join(programCopies, name)
	if _, err := os.Stat(shared); err == nil {
		return shared, nil
	}
	if err := os.MkdirAll(programCopies, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(programCopies, ".copy-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	err = errors.Join(os.CopyFS(fresh, os.DirFS(pkg)), os.Chmod(fresh, 0o755))
	if err == nil {
		err = os.Rename(fresh, shared)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process was faster
	}
	if err != nil {
		return "", fmt.Errorf("copy programs of an engine to %s, since %s is closed to uid %d: %w",
			shared, pkg, a.uid, err)
	}
	return shared, nil
}

// execAs has the arguments of runExec.
type execAs struct {
	UID, GID int
	Parent   int            // pid; the program ends if that is no longer its parent
	OnDeath  syscall.Signal // sent to the program when the parent dies
}

// command makes cmd run as the account in dir. onDeath is the signal with which it will be spawned.
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

// engineEnv is the environment of every engine, without our secrets and the variables of its clients (PGDATA, PGPORT…).
func engineEnv() []string { return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"} }

func ownerOf(path string) (uid int, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	return int(info.Sys().(*syscall.Stat_t).Uid), nil
}

// closedParent returns the directory at or above path that uid cannot pass; "" if it can pass all.
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

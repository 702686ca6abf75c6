// Package powercut is a disk that loses power. It is a FUSE file system in memory over a directory: processes see what
// they wrote, and after a cut what they had synced.
//
// It keeps what journaling file systems keep. What was written to a file and not synced may be gone. Changes of names
// (made, renamed, linked, removed) reach the disk in their order, all at the latest with the next sync of any file; a
// cut takes back some of those since, the last ones. The owner, the mode and the times of a file are kept at once.
package powercut

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// Disk is mounted on a directory.
type Disk struct {
	dir    string
	random *rand.Rand
	server *fuse.Server

	mu    sync.Mutex
	files uint64 // that were ever made
	root  *file
	names []func() // take back the changes of names since the last sync, in the order in which they were made
	off   bool
}

// Mount mounts a disk on a directory, with what that has on it, until the test ends. What a cut leaves is chosen at
// random.
func Mount(t testing.TB, dir string, random *rand.Rand) *Disk {
	t.Helper()
	d := &Disk{dir: dir, random: random}
	var err error
	if d.root, err = d.read(dir); err != nil {
		t.Fatal(err)
	}
	d.mount(t)
	t.Cleanup(func() { d.unmount(t) })
	return d
}

// Cut is the loss of power: from now on every access fails. Processes that use the disk are to be killed then.
func (d *Disk) Cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}

// Restore brings the power back, once all processes that used the disk have ended.
func (d *Disk) Restore(t testing.TB) {
	t.Helper()
	d.unmount(t)
	kept := d.random.IntN(len(d.names) + 1)
	for _, takeBack := range slices.Backward(d.names[kept:]) {
		takeBack()
	}
	d.names, d.off = nil, false
	d.root.lose(d.random)
	d.mount(t)
}

func (d *Disk) mount(t testing.TB) {
	t.Helper()
	forever := time.Hour // all changes come through the kernel, which so knows them
	var err error
	d.server, err = fusefs.Mount(d.dir, &node{disk: d, file: d.root}, &fusefs.Options{
		EntryTimeout: &forever, AttrTimeout: &forever, NegativeTimeout: &forever,
		NullPermissions: true,
		RootStableAttr:  &fusefs.StableAttr{Ino: d.root.number},
		MountOptions: fuse.MountOptions{
			AllowOther: true, Options: []string{"default_permissions"}, // PostgreSQL is another user under root
			FsName: "powercut", Name: "powercut", DirectMount: true, DisableXAttrs: true, MaxWrite: 1 << 20,
		},
	})
	if err != nil {
		t.Fatalf("mount a disk that loses power on %s: %v; want root, or fusermount3 with user_allow_other in /etc/fuse.conf", d.dir, err)
	}
}

// unmount waits for the processes that use the disk.
func (d *Disk) unmount(t testing.TB) {
	t.Helper()
	wait.Until(t, func() string {
		if err := d.server.Unmount(); err != nil {
			return fmt.Sprintf("unmount %s: %v", d.dir, err)
		}
		return ""
	})
}

// A file is one on the disk, or a directory or a symbolic link.
type file struct {
	number  uint64
	attr    fuse.Attr // without size and links
	links   uint32
	entries map[string]*file
	target  string

	seen    []byte           // the content that processes see
	synced  []byte           // and that which the disk has
	changed map[int]struct{} // pages that differ
}

// page is the size of what is synced as a whole.
const page = 4096

func (d *Disk) newFile(mode, uid, gid uint32) *file {
	d.files++
	now := time.Now()
	f := &file{number: d.files, changed: map[int]struct{}{}}
	f.attr.Mode, f.attr.Uid, f.attr.Gid = mode, uid, gid
	f.attr.SetTimes(&now, &now, &now)
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		f.entries = map[string]*file{}
	}
	return f
}

// read makes the file of a path that another file system has.
func (d *Disk) read(path string) (*file, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	f := d.newFile(stat.Mode, stat.Uid, stat.Gid)
	f.links = 1
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.target, err = os.Readlink(path)
		return f, err
	case !info.IsDir():
		f.seen, err = os.ReadFile(path)
		f.synced = slices.Clone(f.seen)
		return f, err
	}
	entries, err := os.ReadDir(path)
	for _, entry := range entries {
		var wrong error
		f.entries[entry.Name()], wrong = d.read(filepath.Join(path, entry.Name()))
		err = errors.Join(err, wrong)
	}
	return f, err
}

// write changes the content from an offset on.
func (f *file) write(data []byte, at int) {
	if end := at + len(data); end > len(f.seen) {
		f.resize(end)
	}
	copy(f.seen[at:], data)
	f.change(at, at+len(data))
}

func (f *file) resize(size int) {
	before := len(f.seen)
	if size <= before {
		f.seen = f.seen[:size]
	} else {
		f.seen = slices.Grow(f.seen, size-before)[:size]
		clear(f.seen[before:])
	}
	f.change(min(before, size), max(before, size))
}

// change notes that bytes differ from those on the disk.
func (f *file) change(from, to int) {
	for n := from / page; n*page < to; n++ {
		f.changed[n] = struct{}{}
	}
}

// sync brings the content to the disk.
func (f *file) sync() {
	if size := len(f.seen); size <= len(f.synced) {
		f.synced = f.synced[:size]
	} else {
		f.synced = slices.Grow(f.synced, size-len(f.synced))[:size]
	}
	for n := range f.changed {
		if from := n * page; from < len(f.seen) {
			copy(f.synced[from:], f.seen[from:min(from+page, len(f.seen))])
		}
	}
	clear(f.changed)
}

// lose takes a file, and what is below it, back to what the disk has. Of four files with changes that were not synced
// one keeps them: a kernel writes them at some time by itself.
func (f *file) lose(random *rand.Rand) {
	if len(f.changed) > 0 && random.IntN(4) == 0 {
		f.sync()
	}
	f.seen = slices.Clone(f.synced)
	clear(f.changed)
	for _, entry := range f.entries {
		entry.lose(random)
	}
}

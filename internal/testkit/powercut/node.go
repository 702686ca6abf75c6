package powercut

import (
	"context"
	"maps"
	"slices"
	"syscall"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A node is a file as the kernel knows it.
type node struct {
	fusefs.Inode
	disk *Disk
	file *file
}

var _ interface {
	fusefs.NodeLookuper
	fusefs.NodeReaddirer
	fusefs.NodeCreater
	fusefs.NodeMkdirer
	fusefs.NodeSymlinker
	fusefs.NodeLinker
	fusefs.NodeUnlinker
	fusefs.NodeRmdirer
	fusefs.NodeRenamer
	fusefs.NodeReadlinker
	fusefs.NodeOpener
	fusefs.NodeReader
	fusefs.NodeWriter
	fusefs.NodeAllocater
	fusefs.NodeFsyncer
	fusefs.NodeGetattrer
	fusefs.NodeSetattrer
	fusefs.NodeStatfser
} = (*node)(nil)

// begin locks the disk, if there is power.
func (n *node) begin() syscall.Errno {
	n.disk.mu.Lock()
	if n.disk.off {
		n.disk.mu.Unlock()
		return syscall.EIO
	}
	return 0
}

func (n *node) end() { n.disk.mu.Unlock() }

// child is the node of a file in this directory.
func (n *node) child(ctx context.Context, f *file, out *fuse.EntryOut) *fusefs.Inode {
	f.fill(&out.Attr)
	return n.NewInode(ctx, &node{disk: n.disk, file: f}, fusefs.StableAttr{Mode: f.attr.Mode & syscall.S_IFMT, Ino: f.number})
}

func (f *file) fill(out *fuse.Attr) {
	*out = f.attr
	out.Ino, out.Nlink, out.Size = f.number, f.links, uint64(len(f.seen)+len(f.target))
	out.Blocks, out.Blksize = (out.Size+511)/512, page
}

// set gives a name to a file, or to none, until a cut takes that back.
func (d *Disk) set(directory *file, name string, to *file) {
	before := directory.entries[name]
	put := func(f *file) {
		if named := directory.entries[name]; named != nil {
			named.links--
		}
		delete(directory.entries, name)
		if f != nil {
			directory.entries[name] = f
			f.links++
		}
	}
	put(to)
	d.names = append(d.names, func() { put(before) })
}

// add makes a file in this directory. The caller has begun.
func (n *node) add(ctx context.Context, name string, mode uint32) (*file, syscall.Errno) {
	if n.file.entries[name] != nil {
		return nil, syscall.EEXIST
	}
	var uid, gid uint32
	if caller, ok := fuse.FromContext(ctx); ok {
		uid, gid = caller.Uid, caller.Gid
	}
	f := n.disk.newFile(mode, uid, gid)
	n.disk.set(n.file, name, f)
	return f, 0
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, errno
	}
	defer n.end()
	f := n.file.entries[name]
	if f == nil {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, f, out), 0
}

func (n *node) Readdir(context.Context) (fusefs.DirStream, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, errno
	}
	defer n.end()
	var entries []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(n.file.entries)) {
		f := n.file.entries[name]
		entries = append(entries, fuse.DirEntry{Name: name, Mode: f.attr.Mode, Ino: f.number})
	}
	return fusefs.NewListDirStream(entries), 0
}

func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fusefs.Inode, fusefs.FileHandle, uint32, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, nil, 0, errno
	}
	defer n.end()
	f, errno := n.add(ctx, name, syscall.S_IFREG|mode)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return n.child(ctx, f, out), nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, errno
	}
	defer n.end()
	f, errno := n.add(ctx, name, syscall.S_IFDIR|mode)
	if errno != 0 {
		return nil, errno
	}
	return n.child(ctx, f, out), 0
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, errno
	}
	defer n.end()
	f, errno := n.add(ctx, name, syscall.S_IFLNK|0o777)
	if errno != 0 {
		return nil, errno
	}
	f.target = target
	return n.child(ctx, f, out), 0
}

func (n *node) Link(ctx context.Context, target fusefs.InodeEmbedder, name string, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, errno
	}
	defer n.end()
	if n.file.entries[name] != nil {
		return nil, syscall.EEXIST
	}
	f := target.(*node).file
	n.disk.set(n.file, name, f)
	return n.child(ctx, f, out), 0
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno { return n.remove(name) }

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno { return n.remove(name) }

func (n *node) remove(name string) syscall.Errno {
	if errno := n.begin(); errno != 0 {
		return errno
	}
	defer n.end()
	f := n.file.entries[name]
	switch {
	case f == nil:
		return syscall.ENOENT
	case len(f.entries) > 0:
		return syscall.ENOTEMPTY
	}
	n.disk.set(n.file, name, nil)
	return 0
}

func (n *node) Rename(_ context.Context, name string, newParent fusefs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if errno := n.begin(); errno != 0 {
		return errno
	}
	defer n.end()
	to := newParent.(*node).file
	f, other := n.file.entries[name], to.entries[newName]
	exchange := flags&fusefs.RENAME_EXCHANGE != 0
	const noReplace = 1 // RENAME_NOREPLACE
	switch {
	case f == nil, exchange && other == nil:
		return syscall.ENOENT
	case flags&noReplace != 0 && other != nil:
		return syscall.EEXIST
	case !exchange && other != nil && len(other.entries) > 0:
		return syscall.ENOTEMPTY
	}
	// One change of two names.
	before := len(n.disk.names)
	if exchange {
		n.disk.set(n.file, name, other)
	} else {
		n.disk.set(n.file, name, nil)
	}
	n.disk.set(to, newName, f)
	first, second := n.disk.names[before], n.disk.names[before+1]
	n.disk.names = append(n.disk.names[:before], func() { second(); first() })
	return 0
}

func (n *node) Readlink(context.Context) ([]byte, syscall.Errno) { return []byte(n.file.target), 0 }

func (n *node) Open(_ context.Context, flags uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, 0, errno
	}
	defer n.end()
	if flags&syscall.O_TRUNC != 0 {
		n.file.resize(0)
	}
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Read(_ context.Context, _ fusefs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return nil, errno
	}
	defer n.end()
	from := min(int(off), len(n.file.seen))
	read := copy(dest, n.file.seen[from:])
	return fuse.ReadResultData(dest[:read]), 0
}

func (n *node) Write(_ context.Context, _ fusefs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	if errno := n.begin(); errno != 0 {
		return 0, errno
	}
	defer n.end()
	n.file.write(data, int(off))
	n.file.touch()
	return uint32(len(data)), 0
}

func (f *file) touch() {
	now := time.Now()
	f.attr.SetTimes(nil, &now, &now)
}

func (n *node) Allocate(_ context.Context, _ fusefs.FileHandle, off, size uint64, mode uint32) syscall.Errno {
	if mode != 0 {
		return syscall.EOPNOTSUPP
	}
	if errno := n.begin(); errno != 0 {
		return errno
	}
	defer n.end()
	n.file.resize(max(len(n.file.seen), int(off+size)))
	return 0
}

// Fsync is of a directory, too. Either brings all changes of names to the disk.
func (n *node) Fsync(context.Context, fusefs.FileHandle, uint32) syscall.Errno {
	if errno := n.begin(); errno != 0 {
		return errno
	}
	defer n.end()
	n.file.sync()
	n.disk.names = nil
	return 0
}

func (n *node) Getattr(_ context.Context, _ fusefs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if errno := n.begin(); errno != 0 {
		return errno
	}
	defer n.end()
	n.file.fill(&out.Attr)
	return 0
}

func (n *node) Setattr(_ context.Context, _ fusefs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.begin(); errno != 0 {
		return errno
	}
	defer n.end()
	f := n.file
	if mode, ok := in.GetMode(); ok {
		f.attr.Mode = f.attr.Mode&syscall.S_IFMT | mode&^syscall.S_IFMT
	}
	if uid, ok := in.GetUID(); ok {
		f.attr.Uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		f.attr.Gid = gid
	}
	if size, ok := in.GetSize(); ok {
		f.resize(int(size))
		f.touch()
	}
	if at, ok := in.GetMTime(); ok {
		f.attr.SetTimes(nil, &at, nil)
	}
	f.fill(&out.Attr)
	return 0
}

// Statfs says that there is room: engines refuse to write where there is none.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const blocks = 64 << 30 / page
	*out = fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Files: 1 << 20, Ffree: 1 << 20, Bsize: page, Frsize: page, NameLen: 255}
	return 0
}

package engine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// canEnterClosed means that an account can work in a directory that it could not enter itself.
const canEnterClosed = true

// runExec becomes a program (its path, then its arguments from the zeroth on) of another user, in the current
// directory. SysProcAttr changes the directory as that user, who may not be able to pass a directory above, such as
// /root.
func runExec(as execAs, command []string) error {
	// Each call changes only the calling thread; exec makes it the process.
	runtime.LockOSThread()
	uid, gid := uintptr(as.UID), uintptr(as.GID)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("set groups: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
		return fmt.Errorf("set group %d: %w", gid, errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
		return fmt.Errorf("set user %d: %w", uid, errno)
	}
	// The change of user has cleared the signal that spawn had set.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(as.OnDeath), 0, 0, 0); err != nil {
		return fmt.Errorf("set parent-death signal: %w", err)
	}
	if os.Getppid() != as.Parent {
		return errors.New("the parent is gone")
	}
	if err := syscall.Exec(command[0], command[1:], os.Environ()); err != nil {
		return fmt.Errorf("exec %s: %w", command[0], err)
	}
	return nil
}

// workingDir is a name of the working directory, also for a process that cannot pass a directory above it.
const workingDir = "/proc/self/cwd"

// inherited is the name of the file that a child has inherited in addition to its lock.
func inherited(*os.File) string { return "/proc/self/fd/4" }

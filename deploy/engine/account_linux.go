package engine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// passCapability is the capability with which a process passes directories that are
// closed to its user (a checkout below /root, say); ok says that we can give it.
func passCapability() (capability int, ok bool) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0, false
	}
	for _, c := range []int{unix.CAP_DAC_READ_SEARCH, unix.CAP_DAC_OVERRIDE} {
		if data[0].Effective&(1<<c) != 0 && data[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
			return c, true
		}
	}
	return 0, false
}

// noSetuidFixup is SECBIT_NO_SETUID_FIXUP: capabilities stay when the user changes
// and, which PostgreSQL needs to find its own files, count in access(2).
const noSetuidFixup = 1 << 2

// runExec becomes a program of another user, with one capability of root to reach it. SysProcAttr cannot do this: its
// ambient capabilities have no effect between fork and exec, nor for access(2) after it.
func runExec(as execAs, command []string) error {
	// Each of these changes the calling thread only; exec makes it the process.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noSetuidFixup, 0, 0, 0); err != nil {
		return fmt.Errorf("set securebits: %w", err)
	}
	uid := uintptr(as.UID)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("set groups: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uid, uid, uid); errno != 0 {
		return fmt.Errorf("set group %d: %w", uid, errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
		return fmt.Errorf("set user %d: %w", uid, errno)
	}
	only := uint32(1) << as.Capability
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{{Effective: only, Permitted: only, Inheritable: only}}
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0); errno != 0 {
		return fmt.Errorf("set capabilities: %w", errno)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(as.Capability), 0, 0); err != nil {
		return fmt.Errorf("keep capability: %w", err)
	}
	// The change of user cleared what spawn had asked for.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(as.OnDeath), 0, 0, 0); err != nil {
		return fmt.Errorf("set parent-death signal: %w", err)
	}
	if os.Getppid() != as.Parent {
		return errors.New("the parent is gone")
	}
	if err := os.Chdir(as.Dir); err != nil {
		return err
	}
	if err := syscall.Exec(command[0], command, os.Environ()); err != nil {
		return fmt.Errorf("exec %s: %w", command[0], err)
	}
	return nil
}

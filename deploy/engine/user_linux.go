package engine

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// passClosed lets the process pass directories that are closed to its user (a
// checkout below /root, say) by leaving it the one capability for that, and says
// whether we have one to leave. It is in effect after the next exec.
func passClosed(attr *syscall.SysProcAttr) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	for _, c := range []uintptr{unix.CAP_DAC_READ_SEARCH, unix.CAP_DAC_OVERRIDE} {
		if data[0].Permitted&(1<<c) != 0 {
			attr.AmbientCaps = []uintptr{c}
			return true
		}
	}
	return false
}

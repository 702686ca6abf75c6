package engine

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawner runs functions on one thread that lives as long as the process. The kernel sends a child its parent-death
// signal when the *thread* that started it ends, and the runtime ends threads unless they are locked.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// spawn starts cmd so that it gets sig when this process dies, even by SIGKILL.
func spawn(cmd *exec.Cmd, sig syscall.Signal, ownGroup bool) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig, cmd.SysProcAttr.Setpgid = sig, ownGroup
	started := make(chan error)
	spawner() <- func() { started <- cmd.Start() }
	return <-started
}

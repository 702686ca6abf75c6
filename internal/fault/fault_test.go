package fault

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A process dies at the pass that was asked for: not at an earlier one, and not at another point.
func TestAProcessDiesAtItsPoint(t *testing.T) {
	if os.Getenv("FAULT") != "" {
		if err := Arm(os.Getenv("FAULT")); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			Pass(Planned)
			Pass(Landed)
		}
		os.Exit(7)
	}
	for _, c := range []struct {
		at   string
		dies bool
	}{{"landed:1", true}, {"landed:3", true}, {"landed:4", false}, {"committed:1", false}} {
		child := exec.Command(os.Args[0], "-test.run", t.Name())
		child.Env = append(os.Environ(), "FAULT="+c.at)
		_ = child.Run() // its state says more
		status, _ := child.ProcessState.Sys().(syscall.WaitStatus)
		if killed := status.Signaled() && status.Signal() == syscall.SIGKILL; killed != c.dies ||
			!killed && status.ExitStatus() != 7 {
			t.Errorf("armed with %s it ended with %v, want dead: %t", c.at, child.ProcessState, c.dies)
		}
	}
}

func TestArmingSaysWhatIsWrong(t *testing.T) {
	for _, text := range []string{"", "landed", "landed:", "landed:0", "landed:x", "lost:1"} {
		if err := Arm(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// What the program does at a point costs it nothing to speak of.
func BenchmarkPass(b *testing.B) {
	for b.Loop() {
		Pass(Landed)
	}
}

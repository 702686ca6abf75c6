package browser

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// launch starts the command and returns the address that it listens on.
func (b *Browser) launch(ctx context.Context, command string, arguments []string) (address string, err error) {
	cmd := exec.CommandContext(ctx, command, arguments...)
	cmd.Env = append(os.Environ(), "HOME="+b.dir, "MOZ_CRASHREPORTER_DISABLE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has processes of its own
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", fmt.Errorf("start %s: %w", command, err)
	}
	b.process = cmd
	found, ended := make(chan string, 1), make(chan string, 1)
	go b.follow(stderr, found, ended)
	select {
	case address := <-found:
		return address, nil
	case log := <-ended:
		return "", fmt.Errorf("%s ended:\n%s", filepath.Base(command), log)
	case <-time.After(timeout):
		return "", fmt.Errorf("%s does not say where it listens", filepath.Base(command))
	}
}

// follow reads what the browser writes until it ends.
func (b *Browser) follow(stderr io.Reader, found, ended chan<- string) {
	line, path := b.protocol.listening()
	var log strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := line.FindStringSubmatch(lines.Text()); m != nil {
			found <- m[1] + path
		}
		if log.Len() < 16<<10 {
			fmt.Fprintln(&log, lines.Text())
		}
	}
	ended <- log.String()
}

package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressEvery is the time between two lines of progress where there is no bar.
const progressEvery = 3 * time.Second

// A meter shows the progress of a task: a bar on a terminal, a line every few seconds elsewhere. It may be used from
// several goroutines.
type meter struct {
	out   io.Writer
	task  string
	total int64 // 0: not known
	bar   *progressbar.ProgressBar

	mu    sync.Mutex
	done  int64
	begun time.Time
	shown time.Time
}

// meter begins to show a task of total steps.
func (p *process) meter(task string, total int64) *meter {
	m := &meter{out: p.stderr, task: task, total: total, begun: time.Now(), shown: time.Now()}
	if file, ok := p.stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) && total > 0 {
		m.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.stderr), progressbar.OptionSetDescription(task),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	return m
}

// reach sets the number of steps that are done; fewer than before are ignored.
func (m *meter) reach(done int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if done <= m.done {
		return
	}
	m.done = done
	if m.bar != nil {
		_ = m.bar.Set64(min(done, m.total)) // a bar that cannot be drawn fails nothing
		return
	}
	if time.Since(m.shown) >= progressEvery {
		m.shown = time.Now()
		fmt.Fprintln(m.out, m.text())
	}
}

// end removes the bar and prints the result in one line.
func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Finish()
	}
	fmt.Fprintf(m.out, "%s in %s\n", m.text(), time.Since(m.begun).Round(100*time.Millisecond))
}

func (m *meter) text() string {
	if m.total == 0 {
		return fmt.Sprintf("%s: %d", m.task, m.done)
	}
	return fmt.Sprintf("%s: %d of %d", m.task, m.done, m.total)
}

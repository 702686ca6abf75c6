package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// A pipelineProcess is answerscope pipeline, started as a person would.
type pipelineProcess struct {
	cmd     *exec.Cmd
	topic   string         // of visits
	reading chan time.Time // when it was given that topic's partitions, once
	ended   chan struct{}

	mu  sync.Mutex
	log []string // its last lines
}

// startPipeline starts one on the laboratory's engines.
func (l *laboratory) startPipeline(ctx context.Context, database, prefix string) (*pipelineProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find answerscope: %w", err)
	}
	warehouse, err := l.database(database)
	if err != nil {
		return nil, err
	}
	p := &pipelineProcess{
		cmd:     exec.CommandContext(ctx, self, "pipeline", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"),
		topic:   prefix + event.TopicVisits,
		reading: make(chan time.Time, 1),
		ended:   make(chan struct{}),
	}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "ANSWERSCOPE_") {
			p.cmd.Env = append(p.cmd.Env, entry)
		}
	}
	p.cmd.Env = append(p.cmd.Env, "ANSWERSCOPE_CLICKHOUSE_DSN="+warehouse, "ANSWERSCOPE_POSTGRES_DSN="+l.control,
		"ANSWERSCOPE_KAFKA_BROKERS="+strings.Join(l.connection.Brokers, ","), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX="+prefix)
	lines, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start pipeline: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start pipeline: %w", err)
	}
	go p.follow(lines)
	return p, nil
}

// follow reads what it logs until it ends.
func (p *pipelineProcess) follow(log io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(log)
	for told := false; lines.Scan(); {
		line := lines.Text()
		if !told && strings.Contains(line, `msg="partitions assigned"`) && strings.Contains(line, "topic="+p.topic+" ") {
			told = true
			p.reading <- time.Now()
		}
		p.mu.Lock()
		p.log = append(p.log[max(0, len(p.log)-50):], line)
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // what it said tells more
}

func (p *pipelineProcess) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

// assigned waits until it has its partitions, and says since when.
func (p *pipelineProcess) assigned(ctx context.Context) (time.Time, error) {
	select {
	case since := <-p.reading:
		return since, nil
	case <-p.ended:
		return time.Time{}, fmt.Errorf("pipeline ended before it read:\n%s", p.last())
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

// memory is the most that was resident of it, in bytes; 0 where the system does not
// tell.
func (p *pipelineProcess) memory() int64 {
	text := field(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), "VmHWM")
	kB, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kB << 10
}

// stop ends it in order.
func (p *pipelineProcess) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop pipeline: %w", err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("pipeline did not stop:\n%s", p.last())
	}
}

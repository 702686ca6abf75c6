package tracking_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// BenchmarkPolling measures what a process takes to poll 2,000 jobs of a capture provider, over 30 seconds.
func BenchmarkPolling(b *testing.B) {
	const jobs = 2000
	e, c := newCaptured(b, jobs)
	e.Captures = append(e.Captures, "ANSWERSCOPE_PLATFORM_OXYLABS_LIMITS=in-flight=2000,requests=1000000")
	c.holds = true
	idle, _ := e.jobs(b)
	p := e.work(b, "")
	<-time.After(5 * time.Second)
	before, _ := usage(b, p.Process.Pid)
	e.start(b, idle, surface)
	wait.For(b, "all submissions", func() bool { n, _ := c.accepted(); return n == jobs })
	<-time.After(20 * time.Second) // until all are polled at the longest interval
	_, began := usage(b, p.Process.Pid)
	polls := c.polls
	for range b.N {
		<-time.After(30 * time.Second)
	}
	memory, ended := usage(b, p.Process.Pid)
	seconds := float64(30 * b.N)
	b.ReportMetric(float64(memory-before)/(1<<20), "MB")
	b.ReportMetric(100*(ended-began).Seconds()/seconds, "%core")
	b.ReportMetric(float64(c.polls-polls)/seconds, "polls/s")
}

// usage returns the memory and the processor time of a process.
func usage(tb testing.TB, pid int) (bytes int64, processor time.Duration) {
	tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))
	number := func(i int) int64 {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return n
	}
	return number(21) * int64(os.Getpagesize()), time.Duration(number(11)+number(12)) * 10 * time.Millisecond
}

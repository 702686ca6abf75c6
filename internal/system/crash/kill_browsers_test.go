package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/collector"
	"github.com/answerscope/answerscope/internal/system/run"
)

// A browserLoad is browsers on the site of Acme. They send beacons, each of a session of its own, and remember how each
// was answered.
type browserLoad struct {
	brand    string
	each     int // beacons of a request
	url      atomic.Pointer[string]
	client   fasthttp.Client
	begun    atomic.Int64
	answers  []answered // by request
	statuses [600]atomic.Int64
	unsure   atomic.Bool // of answers: they count as none
}

// answered is the status of a request, 0 where none came, and how long it took.
type answered struct {
	status int
	took   time.Duration
}

// mostRequests are more than any test sends.
const mostRequests = 2_000_000

func newBrowserLoad(c *collectorTest, each int) *browserLoad {
	return browsing(c.brand, c.collector, each)
}

// browsing is of the site of a brand, and of a collector.
func browsing(brand string, of *run.Server, each int) *browserLoad {
	b := &browserLoad{
		brand: brand, each: each, answers: make([]answered, mostRequests),
		// One that got no answer is not asked again: it would be two visits.
		client: fasthttp.Client{
			MaxIdemponentCallAttempts: 1, MaxConnsPerHost: 1000, ReadTimeout: 10 * time.Second,
			WriteTimeout: 10 * time.Second,
		},
	}
	b.url.Store(&of.URL)
	return b
}

// browse sends requests at a rate until end is called, which returns once all are answered.
func (b *browserLoad) browse(t *testing.T, rate int) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	began, apart := time.Now(), time.Second/time.Duration(rate)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for ctx.Err() == nil {
				n := int(b.begun.Add(1) - 1)
				<-time.After(time.Until(began.Add(time.Duration(n) * apart)))
				b.answers[n] = b.send(n)
				b.statuses[b.answers[n].status].Add(1)
			}
		})
	}
	stop := sync.OnceFunc(func() { cancel(); all.Wait() })
	t.Cleanup(stop)
	return stop
}

// want is how a collector that has room answers the n-th request: some come from elsewhere, and some are none.
func (b *browserLoad) want(n int) int {
	switch n % 50 {
	case 7:
		return fasthttp.StatusForbidden
	case 11:
		return fasthttp.StatusBadRequest
	}
	return fasthttp.StatusNoContent
}

func (b *browserLoad) send(n int) answered {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(*b.url.Load() + collector.Path)
	request.Header.SetMethod(fasthttp.MethodPost)
	request.Header.Set("User-Agent", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, "+
		"like Gecko) Chrome/150.0.0.0 Safari/537.36")
	request.Header.SetContentType("text/plain;charset=UTF-8")
	origin, brand := "https://www.acme.example", b.brand
	switch b.want(n) {
	case fasthttp.StatusForbidden:
		origin = "https://acme.example.evil.example"
	case fasthttp.StatusBadRequest:
		brand = "acme"
	}
	request.Header.Set("Origin", origin)
	var views []string
	for i := range b.each {
		views = append(views,
			fmt.Sprintf(`{"b":"%s","u":"https://www.acme.example/","r":"https://chatgpt.com/","i":"%s","n":1}`, brand,
				b.session(n, i)))
	}
	body := strings.Join(views, ",")
	if b.each > 1 {
		body = "[" + body + "]"
	}
	request.SetBodyString(body)
	begin := time.Now()
	if err := b.client.Do(request, response); err != nil {
		return answered{}
	}
	if b.unsure.Load() {
		return answered{}
	}
	return answered{response.StatusCode(), time.Since(begin)}
}

func (b *browserLoad) session(n, i int) string { return fmt.Sprintf("tab-%d-%d", n, i) }

// await waits until so many more requests were answered with a status.
func (b *browserLoad) await(t *testing.T, status, more int) {
	t.Helper()
	look, late := time.NewTicker(5*time.Millisecond), time.After(run.Timeout)
	defer look.Stop()
	for before := b.count(status); b.count(status) < before+more; {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("%d more requests were answered %d within %s, want %d; %s",
				b.count(status)-before, status, run.Timeout, more, b)
		}
	}
}

func (b *browserLoad) count(status int) int { return int(b.statuses[status].Load()) }

// sent is how many requests were begun.
func (b *browserLoad) sent() int { return int(b.begun.Load()) }

// String says how many were answered how.
func (b *browserLoad) String() string {
	counts := []string{fmt.Sprintf("%d requests of %d beacons", b.sent(), b.each)}
	for status := range b.statuses {
		if n := b.count(status); status > 0 && n > 0 {
			counts = append(counts, fmt.Sprintf("%d answered %d", n, status))
		}
	}
	return strings.Join(append(counts, fmt.Sprintf("%d not answered", b.count(0))), ", ")
}

// took is a percentile of how long answers 204 took, of the requests from one to another.
func (b *browserLoad) took(from, to int, percent int) time.Duration {
	var times []time.Duration
	for _, a := range b.answers[from:to] {
		if a.status == fasthttp.StatusNoContent {
			times = append(times, a.took)
		}
	}
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[(len(times)-1)*percent/100].Round(10 * time.Microsecond)
}

// judge compares how each request was answered with how many visits of its sessions there are.
func (b *browserLoad) judge(t *testing.T, found map[string]uint64) {
	t.Helper()
	var odd, lost, doubled, refused, known int
	for n, a := range b.answers[:b.sent()] {
		if want := b.want(n); a.status != want && a.status != 0 && a.status != fasthttp.StatusServiceUnavailable {
			odd++
		}
		for i := range b.each {
			visits, ok := found[b.session(n, i)]
			if ok {
				known++
			}
			switch {
			case visits > 1:
				doubled++
			case visits == 0 && a.status == fasthttp.StatusNoContent:
				lost++
			case visits == 1 && a.status != fasthttp.StatusNoContent && a.status != 0:
				refused++
			}
		}
	}
	if odd > 0 {
		t.Errorf("%d requests were answered otherwise than a collector should; %s", odd, b)
	}
	if lost+doubled+refused > 0 || known != len(found) {
		t.Errorf("%d beacons answered 204 are not counted, %d are counted twice, %d refused ones are counted, "+
			"and %d visits are of no beacon; %s",
			lost, doubled, refused, len(found)-known, b)
	}
}

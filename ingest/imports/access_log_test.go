package imports_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// logEnvironment is an environment with an access log.
type logEnvironment struct {
	*environment
	log imports.AccessLog
}

func newLogEnvironment(t *testing.T) *logEnvironment {
	t.Helper()
	e := &logEnvironment{environment: newEnvironment(t)}
	e.log = imports.AccessLog{
		OrganizationID: uuid.UUID{1}, BrandID: uuid.UUID{2}, Format: imports.Combined,
		Sites: []string{"lumen.example"}, Site: "lumen.example", Ranges: imports.Ranges{},
	}
	e.must(e.log.Ranges.Add("GPTBot", strings.NewReader("192.0.2.0/24")))
	return e
}

func (e *logEnvironment) importer() *imports.Importer {
	return imports.New(e.producer, e.db, imports.Lookups{Crawls: e.landed.lookup}, time.Now)
}

// crawls returns the crawls on the log, and how many partitions have some.
func (e *logEnvironment) crawls() (crawls []event.Crawl, raw string, partitions int) {
	e.t.Helper()
	for _, messages := range e.records(event.TopicCrawls) {
		if len(messages) > 0 {
			partitions++
		}
		for _, m := range messages {
			var c event.Crawl
			e.must(event.DecodeCrawl(m.Value, &c))
			crawls, raw = append(crawls, c), raw+string(m.Value)+"\n"
		}
	}
	return crawls, raw, partitions
}

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

func logLine(address string, second int, path, agent string) string {
	return fmt.Sprintf(`%s - - [02/Mar/2026:12:00:%02d +0000] "GET %s HTTP/1.1" 200 100 "-" "%s"`+"\n", address, second,
		path, agent)
}

const (
	gptbot    = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	claudebot = "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"
)

// The crawls of an access log are appended once, equal lines as many times; no address is kept or logged.
func TestAccessLogIsCountedOnce(t *testing.T) {
	e := newLogEnvironment(t)
	text := logLine("192.0.2.7", 1, "/a?q=1", gptbot) +
		logLine("192.0.2.7", 1, "/a?q=1", gptbot) + // the same once more
		logLine("198.51.100.9", 2, "/a", gptbot) + // another address
		logLine("198.51.100.9", 2, "/b", claudebot) +
		logLine("203.0.113.5", 3, "/", browser) +
		"203.0.113.6 broken\n" +
		"other.example " + logLine("192.0.2.7", 4, "/theirs", gptbot) +
		"shop.lumen.example " + logLine("192.0.2.7", 4, "/ours", gptbot)
	summary, err := e.importer().ImportAccessLog(t.Context(), strings.NewReader(text), e.log, nil)
	if err != nil || summary.Imported != 5 || summary.Skipped != 0 || summary.Refused != 1 || summary.Others != 2 {
		t.Fatalf("%+v, %v", summary, err)
	}
	if r := summary.Refusals[0]; r.Line != 6 || !strings.Contains(r.Reason, "combined") {
		t.Errorf("refused: %+v", r)
	}
	all, raw, partitions := e.crawls()
	if len(all) != 5 || partitions != 1 {
		t.Fatalf("%d crawls on %d partitions, want 5 on one", len(all), partitions)
	}
	first, second, third, fourth, fifth := all[0], all[1], all[2], all[3], all[4]
	if first.ID == second.ID || first.Path != "/a" || first.Crawler != "GPTBot" || first.Operator != "OpenAI" ||
		first.Purpose != event.PurposeTraining || !*first.Verified ||
		first.Host != "lumen.example" || first.Status != 200 || first.Bytes != 100 || first.BrandID != e.log.BrandID ||
		first.OrganizationID != e.log.OrganizationID {
		t.Errorf("appended %+v and %+v", first, second)
	}
	if *third.Verified || fourth.Verified != nil || fourth.Crawler != "ClaudeBot" ||
		fifth.Host != "shop.lumen.example" {
		t.Errorf("appended %+v, %+v, %+v", third, fourth, fifth)
	}
	if fmt.Sprint(summary.Hosts, summary.Agents) != "[{other.example 1}] []" {
		t.Errorf("others: %v, %v", summary.Hosts, summary.Agents)
	}
	for _, address := range []string{"192.0.2.7", "198.51.100.9", "203.0.113"} {
		if strings.Contains(raw+e.logged.String()+fmt.Sprint(summary), address) {
			t.Errorf("%s is kept", address)
		}
	}
	for _, c := range all {
		e.landed.ids[c.ID] = true
	}
	summary, err = e.importer().LimitLog(2, 0).ImportAccessLog(t.Context(), strings.NewReader(text), e.log, nil)
	if err != nil || summary.Imported != 0 || summary.Skipped != 5 {
		t.Errorf("again: %+v, %v", summary, err)
	}
	_, tail, _ := strings.Cut(text, "\n") // the first two lines are equal
	_, tail, _ = strings.Cut(tail, "\n")
	summary, err = e.importer().ImportAccessLog(t.Context(), strings.NewReader(tail), e.log, nil)
	if err != nil || summary.Imported != 0 || summary.Skipped != 3 {
		t.Errorf("without the beginning that was rotated away: %+v, %v", summary, err)
	}
}

// A line that names no host is not ours by default where others of the log name one, nor is a name in front where one
// of these is a site; --site says whose it is.
func TestALineWithoutHostIsNotOursByDefault(t *testing.T) {
	e := newLogEnvironment(t)
	e.log.Assumed = true
	line := logLine("192.0.2.7", 1, "/", gptbot)
	named := func(name string) string { return strings.Replace(line, "192.0.2.7", name, 1) }
	for _, c := range []struct {
		text                      string
		imported, refused, others int
	}{
		{line + strings.Replace(line, "/ ", "http://other.example/ ", 1) + line, 2, 0, 1},
		{"lumen.example " + line + line, 1, 1, 0},
		{"other.example " + line + line, 0, 1, 1},
		{"- " + line, 0, 1, 0},
		{named("crawler.example"), 1, 0, 0},
		{named("lumen.example") + named("other.example"), 1, 0, 1},
		{strings.Replace(line, gptbot, "NovelBot/1.0", 1), 0, 0, 1},
	} {
		summary, err := e.importer().ImportAccessLog(t.Context(), strings.NewReader(c.text), e.log, nil)
		if err != nil || summary.Imported+summary.Skipped != c.imported || summary.Refused != c.refused ||
			summary.Others != c.others {
			t.Errorf("%s%+v, %v, want %+v", c.text, summary, err, c)
		}
	}
}

// Lines of months that have expired, of the future and before our time are refused.
func TestLogLinesOfOtherTimesAreRefused(t *testing.T) {
	e := newLogEnvironment(t)
	stop, err := e.db.LockSinksExclusive(t.Context(), 0, time.Second)
	e.must(err)
	_, err = stop.Freeze(t.Context(), event.TopicCrawls, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC))
	e.must(errors.Join(err, stop.Release()))
	march := logLine("192.0.2.7", 1, "/", gptbot)
	text := march + strings.Replace(march, "2026", "2019", 1) + strings.Replace(march, "2026", "2098", 1) +
		strings.Replace(march, "Mar", "Apr", 1)
	summary, err := e.importer().ImportAccessLog(t.Context(), strings.NewReader(text), e.log, nil)
	if err != nil || summary.Imported != 1 || summary.Refused != 3 ||
		!strings.Contains(fmt.Sprint(summary.Refusals), "raw crawls of that month have expired") {
		t.Errorf("%+v, %v", summary, err)
	}
}

// An interrupted import reports the last line whose crawls are on the log.
func TestInterruptedLogImportReportsItsLine(t *testing.T) {
	e := newLogEnvironment(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := e.importer().ImportAccessLog(ctx, strings.NewReader(logLine("192.0.2.7", 1, "/", gptbot)), e.log, nil)
	if interrupted, ok := errors.AsType[*imports.Interrupted](err); !ok || interrupted.Line != 0 ||
		interrupted.Imported != 0 {
		t.Errorf("Import() = %v, want an Interrupted", err)
	}
}

// A file that is followed is read as it is written: whole lines only, at once though it falls quiet, into the next
// file that takes its name, until it is stopped.
func TestFollowedLogIsReadAsItIsWritten(t *testing.T) {
	e := newLogEnvironment(t)
	name := filepath.Join(t.TempDir(), "access.log")
	stop, end := context.WithCancel(t.Context())
	defer end()
	importer := e.importer().LimitLog(0, 10*time.Millisecond)
	var imported, files atomic.Int64
	over := make(chan error, 1)
	go func() {
		for {
			file, err := imports.OpenTail(stop, name)
			if err != nil {
				over <- err
				return
			}
			files.Add(1)
			summary, err := importer.ImportAccessLog(context.WithoutCancel(stop), file, e.log, nil)
			imported.Add(int64(summary.Imported))
			if err := errors.Join(err, file.Close()); err != nil {
				over <- err
				return
			}
		}
	}()
	whole, half := logLine("192.0.2.7", 1, "/a", gptbot), logLine("192.0.2.7", 2, "/b", gptbot)
	appendTo(t, name, whole+half[:40])
	on := func(n int) {
		t.Helper()
		wait.For(t, fmt.Sprintf("%d crawls on the log", n), func() bool {
			all, _, _ := e.crawls()
			return len(all) == n
		})
	}
	on(1)
	appendTo(t, name, half[40:])
	on(2)
	e.must(os.Rename(name, name+".1"))
	appendTo(t, name, logLine("192.0.2.7", 3, "/c", gptbot))
	on(3)
	appendTo(t, name, logLine("192.0.2.7", 4, "/d", gptbot)[:30])
	end()
	if err := <-over; !errors.Is(err, io.EOF) || imported.Load() != 3 || files.Load() != 2 {
		t.Errorf("followed %d files with %d crawls, %v; want 2 with 3", files.Load(), imported.Load(), err)
	}
}

// Equal lines are numbered anew in each file that takes the name. So a log that is replaced by its longer copy, as
// rsync does it, adds only what is new; the price is that equal lines on both sides of a rotation are one crawl.
func TestFollowedLogReplacedByALongerCopyIsCountedOnce(t *testing.T) {
	e := newLogEnvironment(t)
	name := filepath.Join(t.TempDir(), "access.log")
	stop, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() {
		_, err := e.importer().LimitLog(0, 10*time.Millisecond).FollowAccessLog(stop, name, e.log, func(int64) {},
			func(error, time.Duration) {})
		ended <- err
	}()
	before := logLine("192.0.2.7", 1, "/a", gptbot)
	appendTo(t, name, before)
	appended := func(n int) map[uuid.UUID]int {
		t.Helper()
		ids := map[uuid.UUID]int{}
		wait.For(t, fmt.Sprintf("%d records on the log", n), func() bool {
			all, _, _ := e.crawls()
			clear(ids)
			for _, c := range all {
				ids[c.ID]++
			}
			return len(all) == n
		})
		return ids
	}
	appended(1)
	appendTo(t, name+".copy", before+logLine("192.0.2.7", 2, "/b", gptbot))
	e.must(os.Rename(name+".copy", name))
	if ids := appended(3); len(ids) != 2 {
		t.Errorf("crawls by id: %v, want 2", ids)
	}
	end()
	e.must(<-ended)
}

// A follower that is stopped does not read a long log to its end, and has returned whole lines only.
func TestStoppedFollowerEndsBeforeItsFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "access.log")
	long := strings.Repeat(logLine("192.0.2.7", 1, "/a", gptbot), 10_000)
	appendTo(t, name, long)
	stop, end := context.WithCancel(t.Context())
	file, err := imports.OpenTail(stop, name)
	must(t, err)
	defer file.Close()
	var first [100]byte
	_, err = io.ReadFull(file, first[:])
	must(t, err)
	end()
	rest, err := io.ReadAll(file)
	if read := string(first[:]) + string(rest); err != nil || len(read) == len(long) ||
		!strings.HasPrefix(long, read) || !strings.HasSuffix(read, "\n") {
		t.Errorf("read %d of %d bytes, %v; want some of its whole lines", len(read), len(long), err)
	}
}

// A gzip file cannot be followed.
func TestGzipLogIsNotFollowed(t *testing.T) {
	e := newLogEnvironment(t)
	name := filepath.Join(t.TempDir(), "access.log.1.gz")
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(logLine("192.0.2.7", 1, "/a", gptbot)))
	e.must(errors.Join(err, z.Close()))
	appendTo(t, name, packed.String()+"\n")
	file, err := imports.OpenTail(t.Context(), name)
	e.must(err)
	defer file.Close()
	if _, err := e.importer().ImportAccessLog(t.Context(), file, e.log, nil); !errors.Is(err, imports.ErrPacked) {
		t.Errorf("followed: %v, want ErrPacked", err)
	}
	whole, err := os.Open(name)
	e.must(err)
	defer whole.Close()
	if summary, err := e.importer().ImportAccessLog(t.Context(),
		io.LimitReader(whole, int64(packed.Len())), e.log, nil); err != nil || summary.Imported != 1 {
		t.Errorf("not followed: %+v, %v", summary, err)
	}
}

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = file.WriteString(text)
	must(t, errors.Join(err, file.Close()))
}

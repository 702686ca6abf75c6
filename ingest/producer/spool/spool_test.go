package spool

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/powercut"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, dir string) *Spool {
	t.Helper()
	s, err := Open(Config{Dir: dir, SegmentBytes: 2000}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t testing.TB, s *Spool, partition int, body string, held bool) Ref {
	t.Helper()
	r, err := s.Put(Entry{partition, noon, 1, []byte(body)}, held)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contents are the bodies of every partition, in their order, as a reader sees them.
func contents(t testing.TB, s *Spool) map[int][]string {
	t.Helper()
	all := map[int][]string{}
	for _, l := range s.Partitions() {
		for _, r := range s.Next(l, 1<<30, 1<<30) {
			e, err := s.Read(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if e.Partition != l || !e.At.Equal(noon) || e.Records != 1 {
				t.Errorf("entry %+v, want partition %d and noon", e, l)
			}
			all[l] = append(all[l], string(e.Body))
		}
	}
	return all
}

// What was put is there after each loss of power, also the first entry of a file.
func TestEntriesSurviveALossOfPower(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	power := powercut.Mount(t, dir, rand.New(rand.NewPCG(7, 8)))
	want := map[int][]string{}
	for cut := range 20 {
		s, err := Open(Config{Dir: dir, SegmentBytes: 2000}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // after a failure, since an open file keeps the disk
		if got := contents(t, s); !reflect.DeepEqual(got, want) {
			t.Errorf("after %d cuts %v, want %v", cut, got, want)
			want = got
		}
		for n := range 5 {
			body := fmt.Sprintf("%d/%d %s", cut, n, strings.Repeat("x", 600))
			put(t, s, n%2, body, false)
			want[n%2] = append(want[n%2], body)
		}
		power.Cut()
		_ = s.Close() // its disk is gone
		power.Restore(t)
	}
}

// Whatever is put, removed and opened again, in whichever order, is as a list of each partition says that it is.
func TestEntriesAreThereUntilTheyAreRemoved(t *testing.T) {
	type kept struct {
		body string
		ref  Ref
	}
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	s := open(t, dir)
	naive := map[int][]kept{}
	for step := range 3000 {
		l := random.IntN(4) - 1
		switch n := random.IntN(100); {
		case n < 55:
			body := fmt.Sprintf("%d %s", step, strings.Repeat("x", random.IntN(200)))
			naive[l] = append(naive[l], kept{body, put(t, s, l, body, n < 10)})
			if n < 10 { // held, and removed by its holder or given to readers
				s.EndHold(naive[l][len(naive[l])-1].ref, n < 5)
			}
			if n < 5 {
				naive[l] = naive[l][:len(naive[l])-1]
			}
		case n < 95:
			refs := s.Next(l, random.IntN(1000), 10)
			s.Remove(refs...)
			naive[l] = naive[l][len(refs):]
		default:
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir)
		}
		if step%50 != 0 {
			continue
		}
		want, records := map[int][]string{}, 0
		for l, all := range naive {
			for _, k := range all {
				want[l] = append(want[l], k.body)
				records++
			}
		}
		if got := contents(t, s); !reflect.DeepEqual(got, want) || s.Records() != int64(records) {
			t.Fatalf("step %d: %d records %v, want %d %v", step, s.Records(), got, records, want)
		}
	}
	for l := range naive {
		s.Remove(s.Next(l, 1<<30, 1<<30)...)
	}
	if s.Used() > maxIdleSegment || !s.Oldest().IsZero() {
		t.Errorf("an empty spool takes %d bytes, its oldest entry is of %s", s.Used(), s.Oldest())
	}
}

// A held entry is pending, and no reader sees it before its hold ends. Those behind it do not wait.
func TestAHeldEntryIsNotRead(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const l = 3
	held, sent := put(t, s, l, "first", true), put(t, s, l, "sent", true)
	put(t, s, l, "second", false)
	if got := contents(t, s); !slices.Equal(got[l], []string{"second"}) || s.Records() != 3 {
		t.Errorf("%v is to be read, %d pending; want the second alone, 3", got, s.Records())
	}
	s.EndHold(sent, true)
	s.EndHold(held, false)
	if got := contents(t, s); !slices.Equal(got[l], []string{"second", "first"}) || s.Records() != 2 {
		t.Errorf("%v is to be read, %d pending; want both", got, s.Records())
	}
	put(t, s, l, "third", true) // a process that ends has sent nothing of it
	s.Close()
	s = open(t, dir)
	if got := contents(t, s); !slices.Equal(got[l], []string{"first", "second", "third"}) {
		t.Errorf("%v is to be read after a restart, want all three", got)
	}
}

// One entry is synced; those that are put meanwhile wait for one fsync, all together.
func TestPutsShareTheirFsync(t *testing.T) {
	const puts = 32
	var (
		s     *Spool
		size  int64
		syncs int
	)
	synced := func(time.Duration) {
		// As a slow disk would be: done when all have been written.
		for syncs++; syncs == 2 && s.Used() < (1+puts)*size; {
			<-time.After(time.Millisecond)
		}
	}
	s, err := Open(Config{Dir: t.TempDir(), SegmentBytes: 1 << 20, Synced: synced}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const l = 0
	put(t, s, l, "body", false)
	size = s.Used()
	var group sync.WaitGroup
	for range puts {
		group.Go(func() { put(t, s, l, "body", false) })
	}
	group.Wait()
	if syncs != 3 || s.Records() != 1+puts {
		t.Errorf("%d fsyncs for one entry and %d at once; want one for it, one for the first, one for the rest", syncs,
			puts)
	}
}

// only is the segment with entries in a closed spool's directory.
func only(t testing.TB, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil || len(names) != 1 {
		t.Fatalf("segments %v, %v, want one", names, err)
	}
	return names[0]
}

// A file that ends anywhere in an entry has those before it, and no damage is logged.
func TestATornTailIsCut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const l = 1
	put(t, s, l, "first", false)
	whole := int(s.Used())
	put(t, s, l, "second", false)
	s.Close()
	text, err := os.ReadFile(only(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	for end := whole; end <= len(text); end++ {
		for _, blank := range []int{0, 1, 5000} { // which a file system may leave behind it
			if blank > 0 && end > whole && end < len(text) {
				continue // then bytes of the entry are wrong, which is damage
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "0000000007"+suffix),
				append(text[:end:end], make([]byte, blank)...), 0o600); err != nil {
				t.Fatal(err)
			}
			want := []string{"first"}
			if end == len(text) {
				want = append(want, "second")
			}
			for range 2 {
				s := open(t, dir)
				if got := contents(t, s); !slices.Equal(got[l], want) {
					t.Fatalf("cut at %d of %d: %v, want %v", end, len(text), got, want)
				}
				s.Close()
			}
			if quarantined, _ := os.ReadDir(filepath.Join(dir, "quarantine")); len(quarantined) != 0 {
				t.Errorf("cut at %d of %d: %v was quarantined", end, len(text), quarantined)
			}
		}
	}
}

// Whichever byte goes bad, the other entries are there, what the disk gave back is
// quarantined, and that is logged. A bad mark costs nothing.
func TestDamageIsQuarantinedAndLogged(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const l = 1
	put(t, s, l, "first", false)
	begin := int(s.Used())
	put(t, s, l, "second", false)
	end := int(s.Used())
	put(t, s, l, "third", false)
	s.Close()
	text, err := os.ReadFile(only(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	for at := begin; at < end; at++ {
		bad := bytes.Clone(text)
		bad[at] ^= 0x40
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "0000000007"+suffix), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s, err := Open(Config{Dir: dir, SegmentBytes: 2000}, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		got := contents(t, s)[l]
		s.Close()
		if at >= begin+markAt && at < begin+sizeAt {
			if !slices.Equal(got, []string{"first", "second", "third"}) {
				t.Errorf("bad mark at %d: %v, want all", at-begin, got)
			}
			continue
		}
		quarantined, err := os.ReadFile(filepath.Join(dir, "quarantine", fmt.Sprintf("7-%d-damaged", begin)))
		if !slices.Equal(got, []string{"first", "third"}) || err != nil || !bytes.Equal(quarantined, bad[begin:end]) ||
			!strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("bad byte %d: %v, %d bytes quarantined (%v), logged %s", at-begin, got,
				len(quarantined), err, &log)
		}
	}
}

func TestASpoolIsOfOneProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := Open(Config{Dir: dir, SegmentBytes: 2000}, slog.New(slog.DiscardHandler)); !errors.Is(err, ErrInUse) {
		t.Errorf("Open() = %v, want ErrInUse", err)
	}
	s.Close()
	s = open(t, dir)
	s.Close()
	if _, err := s.Put(Entry{At: noon}, false); !errors.Is(err, ErrClosed) {
		t.Errorf("Put() into a closed spool = %v, want ErrClosed", err)
	}
}

func encode(e Entry) []byte { return append(e.head(), e.Body...) }

func FuzzDecode(f *testing.F) {
	for _, partition := range []int{0, -61, 1 << 30} {
		f.Add(encode(Entry{partition, noon, 3, []byte("body")}))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		e, size, _, err := decode(text)
		if err != nil {
			return
		}
		again := encode(e)
		copy(again[markAt:sizeAt], text[markAt:sizeAt])
		if size > len(text) || !bytes.Equal(again, text[:size]) {
			t.Errorf("read %+v, written again as %x, was %x", e, again, text[:size])
		}
	})
}

// FuzzRecover: whatever lies in the directory, a spool opens, keeps what it cannot read, and takes new entries.
func FuzzRecover(f *testing.F) {
	entry := encode(Entry{0, noon, 1, []byte("body")})
	f.Add(entry)
	f.Add(append(bytes.Clone(entry[:20]), entry...))
	f.Add(append(bytes.Clone(entry), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "0000000001"+suffix),
			append(bytes.Clone(text), entry...), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Dir: dir, SegmentBytes: 2000}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		const l = 0
		refs := s.Next(l, 1<<30, 1<<30)
		if len(refs) == 0 {
			t.Fatal("a whole entry behind them is gone")
		}
		if e, err := s.Read(refs[len(refs)-1], nil); err != nil || string(e.Body) != "body" {
			t.Fatalf("the last entry is %q, %v", e.Body, err)
		}
	})
}

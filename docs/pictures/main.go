// Command pictures takes the pictures of the dashboard that README and docs/dashboard.md show, in Chromium, from the
// data of a demo that it starts: `make pictures`. The demo's figures come from a seed; its days are those before today.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/answerscope/answerscope/internal/testkit/browser"
)

// most is what a picture may weigh, in bytes.
const most = 150 << 10

// A picture is a screen in one size and theme. Its last day is yesterday, so that it shows no part of a day.
type picture struct {
	file          string
	path          string // of the demo's brand, to which the days are added
	open          string // the text of the link that is followed from there; "" none
	width, height int
	scheme        string
}

var pictures = []picture{
	{"overview.png", "?", "", 1280, 1060, "light"},
	{"answers.png", "/answers?mentioned=true&", "", 1280, 860, "light"},
	{"competitors.png", "/competitors?", "", 1280, 860, "dark"},
	{"answer.png", "/answers?mentioned=true&platform=perplexity-web&", "best rain jacket for hiking", 1280, 860, "light"},
	{"phone.png", "?", "", 375, 1300, "dark"},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: pictures BINARY DIRECTORY")
	}
	if err := take(os.Args[1], os.Args[2]); err != nil {
		log.Fatalf("take pictures: %v", err)
	}
}

func take(binary, dir string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	data, err := os.MkdirTemp("", "answerscope-pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	if err := os.Chmod(data, 0o755); err != nil { // under root PostgreSQL is another user
		return err
	}
	d, err := startDemo(ctx, binary, data)
	if err != nil {
		return err
	}
	defer d.stop()
	check := exec.CommandContext(ctx, binary, "verdicts", "check", "--data-dir", data) // else the first is at night
	if out, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("check verdicts: %w: %s", err, out)
	}
	chromium, err := browser.Start(ctx, "chromium", "")
	if err != nil {
		return err
	}
	defer chromium.Close()
	tab, err := chromium.Open()
	if err != nil {
		return err
	}
	if err := d.signIn(ctx, tab); err != nil {
		return err
	}
	for _, p := range pictures {
		if err := p.take(ctx, tab, d.url, dir); err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
	}
	return nil
}

// A demo is one that runs.
type demo struct {
	url, email, password string
	cmd                  *exec.Cmd
}

var (
	address = regexp.MustCompile(`^  see    (http://\S+)/$`)
	signIn  = regexp.MustCompile(`sign in as (\S+) with the password (\S+)$`)
)

// startDemo returns when the demo has printed its sign-in.
func startDemo(ctx context.Context, binary, data string) (*demo, error) {
	d := &demo{cmd: exec.CommandContext(ctx, binary, "demo", "--data-dir", data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")}
	stderr, err := d.cmd.StderrPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s demo: %w", binary, err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			d.url = m[1]
		}
		if m := signIn.FindStringSubmatch(lines.Text()); m != nil {
			d.email, d.password = m[1], m[2]
			go func() {
				for lines.Scan() { // it would wait for its reader
				}
			}()
			return d, nil
		}
	}
	return nil, fmt.Errorf("%s demo ended before it printed a sign-in: %w", binary, d.cmd.Wait())
}

func (d *demo) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = d.cmd.Wait()
}

func (d *demo) signIn(ctx context.Context, tab *browser.Page) error {
	if err := tab.Visit(ctx, d.url+"/signin"); err != nil {
		return err
	}
	var status int
	err := tab.Eval(fmt.Sprintf(`fetch("/app/api/session", { method: "POST", headers: { "X-Answerscope": "1" },
		body: JSON.stringify({ email: %q, password: %q }) }).then((r) => r.status)`, d.email, d.password), &status)
	if err == nil && status != 204 {
		err = fmt.Errorf("sign in as %s: status %d", d.email, status)
	}
	return err
}

func (p picture) take(ctx context.Context, tab *browser.Page, url, dir string) error {
	if err := tab.Show(p.width, p.height, p.scheme); err != nil {
		return err
	}
	yesterday := time.Now().UTC().AddDate(0, 0, -1)
	where := p.path + "date_from=" + yesterday.AddDate(0, 0, -29).Format(time.DateOnly) + "&date_to=" + yesterday.Format(time.DateOnly)
	if err := tab.Visit(ctx, url+"/brands/fernwood"+where); err != nil {
		return err
	}
	if p.open != "" {
		link := fmt.Sprintf("[...document.querySelectorAll('tbody th a')].find((a) => a.textContent == %q)", p.open)
		if err := tab.Await(ctx, link); err != nil {
			return err
		}
		if err := tab.Eval("void "+link+".click()", nil); err != nil {
			return err
		}
		if err := tab.Await(ctx, `document.querySelector("article mark")`); err != nil {
			return err
		}
	}
	if err := tab.Await(ctx, `document.querySelector("h1") && document.querySelector(".card") && !document.querySelector(".skeleton, .stale")`); err != nil {
		return err
	}
	if err := tab.Eval(idle, nil); err != nil {
		return err
	}
	shot, err := tab.Screenshot()
	if err != nil {
		return err
	}
	return p.write(shot, filepath.Join(dir, p.file))
}

// idle is when nothing more has been loaded for a while.
const idle = `new Promise((done) => { let before = -1; const look = () => { const now = performance.getEntriesByType("resource").length
	if (now == before) return done(); before = now; setTimeout(look, 2000) }; look() })`

// write cuts a picture to its size, and writes it with the 256 colours that it has most of, which is a third of the
// bytes.
func (p picture) write(shot []byte, file string) error {
	whole, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return err
	}
	part := image.Rect(0, 0, min(p.width, whole.Bounds().Dx()), min(p.height, whole.Bounds().Dy()))
	cut := image.NewPaletted(part, colours(whole, part))
	draw.Draw(cut, part, whole, image.Point{}, draw.Src)
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, cut); err != nil {
		return err
	}
	if small.Len() > most {
		return fmt.Errorf("%d bytes, want %d at most: choose a smaller part of the screen", small.Len(), most)
	}
	return os.WriteFile(file, small.Bytes(), 0o644)
}

// colours are those that a picture has most of.
func colours(of image.Image, part image.Rectangle) color.Palette {
	count := map[color.Color]int{}
	for y := range part.Dy() {
		for x := range part.Dx() {
			count[of.At(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return all[:min(256, len(all))]
}

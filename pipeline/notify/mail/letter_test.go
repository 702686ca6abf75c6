package mail

import (
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/postgres"
)

var update = flag.Bool("update", false, "rewrite the letters of testdata")

const (
	publicURL = "https://answers.example"
	maxBytes  = 100_000 // Gmail cuts at 102 KB
)

var (
	mailID       = uuid.Must(uuid.FromString("0b54e1f4-59c5-4f6e-9a53-0d6a3f0e7c11"))
	subscription = uuid.Must(uuid.FromString("8e0f6c9a-1d7b-4a55-8a1e-7a2f4d9b3c22"))
)

// letters returns a letter for each file of testdata: its name is a template, behind a dash a variant.
func letters(t *testing.T) map[string]postgres.Mail {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no letters: %v", err)
	}
	list := map[string]postgres.Mail{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		template, _, _ := strings.Cut(name, "-")
		letter := postgres.Mail{ID: mailID, Recipient: "ann@acme.example", Template: template, Data: data}
		if strings.Contains(template, ".") && template != feed.EndpointDisabled {
			letter.SubscriptionID = uuid.NullUUID{UUID: subscription, Valid: true}
		}
		list[name] = letter
	}
	return list
}

func write(t *testing.T, l postgres.Mail) Message {
	t.Helper()
	message, err := Write(l, publicURL)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func TestLettersAreTheirGoldens(t *testing.T) {
	var templates []string
	for name, letter := range letters(t) {
		templates = append(templates, letter.Template)
		message := write(t, letter)
		for file, text := range map[string]string{
			name + ".txt": "Subject: " + message.Subject + "\n\n" + message.Text, name + ".html": message.HTML,
		} {
			path := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(path)
			if err != nil || string(golden) != text {
				t.Errorf("%s differs, or is not there (%v): go test ./pipeline/notify/mail -update, "+
					"and read the difference:\n%s", path, err, text)
			}
		}
	}
	source, err := files.ReadFile("letters.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`define "([\w.]+)"}}{{template "head"`).
		FindAllStringSubmatch(string(source), -1) {
		if !slices.Contains(templates, match[1]) {
			t.Errorf("no letter of testdata is of the template %s", match[1])
		}
	}
}

var (
	tags = regexp.MustCompile(
		`(?i)<(table|img|link|script|style|iframe|object|svg|form|input)\b[^>]*>|\bsrc=|url\(|@import`)
	links = regexp.MustCompile(`(?i)(?:href|action|background|poster|srcset)\s*=\s*"([^"]*)"|https?://[^\s"<>]+`)
)

// Nothing is fetched when a mail is read, and nothing leads elsewhere, whatever its data has in it.
func TestLettersAskNobody(t *testing.T) {
	for name, letter := range letters(t) {
		message := write(t, letter)
		for _, tag := range tags.FindAllString(message.HTML, -1) {
			if !strings.HasPrefix(tag, "<table ") {
				t.Errorf("%s has %s", name, tag)
			}
		}
		for _, match := range append(links.FindAllStringSubmatch(message.HTML, -1),
			links.FindAllStringSubmatch(message.Text, -1)...) {
			target := match[1]
			if target == "" {
				target = match[0]
			}
			address, err := url.Parse(strings.TrimRight(target, ".,"))
			if err != nil || address.Scheme+"://"+address.Host != publicURL {
				t.Errorf("%s leads to %s", name, target)
			}
		}
		for _, part := range []string{`<html lang="en">`, `name="color-scheme" content="light dark"`} {
			if !strings.Contains(message.HTML, part) {
				t.Errorf("%s lacks %s", name, part)
			}
		}
		if strings.ContainsAny(message.Subject, "\r\n\u202e") || strings.Contains(message.HTML, "ZgotmplZ") ||
			strings.Contains(message.Text, "no value") {
			t.Errorf("%s: %q", name, message.Subject)
		}
	}
}

// A report as large as an event may be is under what Gmail shows.
func TestTheLargestReportIsShownWhole(t *testing.T) {
	var report feed.Report
	if err := json.Unmarshal(letters(t)["report.weekly"].Data, &report); err != nil {
		t.Fatal(err)
	}
	row := report.Moves[0]
	row.Name = "<&\"é"
	data := letters(t)["report.weekly"].Data
	for report.Moves = nil; len(data) < 20_000; { // what an event may have
		report.Moves = append(report.Moves, row)
		data, _ = json.Marshal(report)
	}
	if message := write(t, postgres.Mail{Template: feed.ReportWeekly, Data: data}); len(message.HTML) > maxBytes {
		t.Errorf("%d bytes of data are %d of HTML", len(data), len(message.HTML))
	}
}

// A report whose lists did not fit an event does not say that nothing moved.
func TestATruncatedReportSaysSo(t *testing.T) {
	data := `{"answers": 112, "moves": [], "truncated": true}`
	message := write(t, postgres.Mail{Template: feed.ReportWeekly, Data: []byte(data)})
	if strings.Contains(message.Text, "Nothing moved") ||
		!strings.Contains(message.Text, "too long for a mail: see the dashboard.") {
		t.Error(message.Text)
	}
}

// The report of a week in which no overview was shown says that, and not that keys may be missing.
func TestAWeekWithoutOverviewsSaysSo(t *testing.T) {
	data := `{"answers": 0, "overviews": [{"platform": "google-ai-overview", "shown": 0, "captures": 4}]}`
	message := write(t, postgres.Mail{Template: feed.ReportWeekly, Data: []byte(data)})
	if strings.Contains(message.Text, "keys") ||
		!strings.Contains(message.Text, "Google AI Overview  0 of 4 captures") {
		t.Error(message.Text)
	}
}

func TestControlCharactersAreSpaces(t *testing.T) {
	for data, want := range map[string]string{
		`{"a":"b\r\nc"}`:                    `{"a":"b  c"}`,
		`{"a":"C:\\new\\\\readme"}`:         `{"a":"C:\\new\\\\readme"}`,
		`{"a":"\\\n\u001f\"\u00e9"}`:        `{"a":"\\  \"\u00e9"}`,
		"{\"a\":\"x\u202ey\u2066z\u0085\"}": `{"a":"x y z "}`,
	} {
		if got := string(onOneLine([]byte(data))); got != want {
			t.Errorf("onOneLine(%s) = %s, want %s", data, got, want)
		}
	}
}

func TestAnUnknownTemplateOrOtherDataIsAnError(t *testing.T) {
	for _, letter := range []postgres.Mail{
		{Template: "brand.created", Data: []byte("{}")}, {Template: feed.ReportWeekly, Data: []byte("[]")},
	} {
		if message, err := Write(letter, publicURL); err == nil {
			t.Errorf("%s: %+v", letter.Template, message)
		}
	}
}

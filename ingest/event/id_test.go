package event

import (
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
)

// These ids are on logs: a change of RunID would count every answer a second time.
func TestRunIDIsStable(t *testing.T) {
	run := Identity{
		BrandID: brandID, PromptText: "best espresso machine?", Platform: "openai",
		Model: "gpt-5.1", Region: "us", Sample: 1, Due: noon,
	}
	with := func(change func(*Identity)) Identity {
		other := run
		change(&other)
		return other
	}
	for name, c := range map[string]struct {
		run  Identity
		want string
	}{
		"whole":          {run, "019cae6b-6600-7f0c-af39-bcf7b3518658"},
		"other brand":    {with(func(i *Identity) { i.BrandID = rivalID }), "019cae6b-6600-7110-8fe5-01348e4ee41a"},
		"other prompt":   {with(func(i *Identity) { i.PromptText += " " }), "019cae6b-6600-7787-9ebb-b0cfc4b69bbe"},
		"other platform": {with(func(i *Identity) { i.Platform = "gemini" }), "019cae6b-6600-772a-b8e7-58496d61a9ec"},
		"no model":       {with(func(i *Identity) { i.Model = "" }), "019cae6b-6600-7aee-9d72-d72ce1aaef95"},
		"model as region": {with(func(i *Identity) {
			i.Model, i.Region = "", "gpt-5.1us"
		}), "019cae6b-6600-7432-a1bd-5055572a1498"},
		"other sample": {with(func(i *Identity) { i.Sample = 2 }), "019cae6b-6600-7c2d-8423-0062c28af802"},
		"other due": {with(func(i *Identity) {
			i.Due = noon.Add(time.Millisecond)
		}), "019cae6b-6601-794c-905e-579ec7f96951"},
	} {
		if got := RunID(c.run).String(); got != c.want {
			t.Errorf("RunID of %s = %s, want %s", name, got, c.want)
		}
	}
	// Neither a zone nor less than a millisecond makes another run.
	same := with(func(i *Identity) { i.Due = noon.Add(999 * time.Microsecond).In(time.FixedZone("", 3600)) })
	if RunID(same) != RunID(run) {
		t.Errorf("RunID = %s for the same instant, want %s", RunID(same), RunID(run))
	}
}

func TestRunIDHasTheLayoutOfVersion7(t *testing.T) {
	for _, due := range []time.Time{noon, time.UnixMilli(0), time.UnixMilli(1<<48 - 1)} {
		got := RunID(Identity{BrandID: brandID, Due: due})
		if got.Version() != uuid.V7 || got.Variant() != uuid.VariantRFC9562 {
			t.Errorf("RunID = %s: version %d variant %d, want 7 and RFC 9562", got, got.Version(), got.Variant())
		}
		if at := IDTime(got); !at.Equal(due) {
			t.Errorf("IDTime(%s) = %s, want %s", got, at, due.UTC())
		}
	}
}

// These too are on logs: reading an access log again makes them again.
func TestCrawlIDIsStable(t *testing.T) {
	for _, c := range []struct {
		site, line string
		ordinal    int
		want       string
	}{
		{"lumen.example", "GET /", 0, "019cae6b-6600-78b1-8cb2-53743d1673fa"},
		{"lumen.example", "GET /", 1, "019cae6b-6600-72f0-9b7d-d2d8e7db4275"},
		{"lumen.exampleG", "ET /", 0, "019cae6b-6600-71dc-958a-92983ae1a9bd"},
		{"shop.lumen.example", "GET /", 0, "019cae6b-6600-7bd5-b8e5-d391e0df00a6"},
	} {
		got := CrawlID(c.site, []byte(c.line), c.ordinal, noon)
		if got.String() != c.want || got.Version() != uuid.V7 || got.Variant() != uuid.VariantRFC9562 ||
			!IDTime(got).Equal(noon) {
			t.Errorf("CrawlID(%q, %q, %d) = %s, want %s of version 7 at noon", c.site, c.line, c.ordinal, got, c.want)
		}
	}
}

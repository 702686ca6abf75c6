package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"slices"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/collector/referral"
)

// most is what t.js may weigh in bytes, gzipped by anybody: a CDN may unpack what is served and pack it anew.
const most = 1024

func TestServedIsWhatTheSourceMakes(t *testing.T) {
	want := minified(t, carried(referral.Table()))
	got, err := os.ReadFile("../served/t.js")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("served/t.js is not what t.js and the table make: go generate ./collector/script")
	}
	if weight := gzipped(t, got); weight > most {
		t.Errorf("t.js weighs %d bytes gzipped, more than %d", weight, most)
	}
}

// Only what there is no room for is left out: with any one of these hosts t.js would weigh too much.
func TestWhatIsLeftOut(t *testing.T) {
	want := []string{
		"bing.com/ck/a", "x.com/i/grok", "edgeservices.bing.com",
		"yiyan.baidu.com", "ai.baidu.com", "chatglm.cn", "chatplus.com", "chat-gpt.org", "app.jasper.ai",
		"app.writesonic.com",
		"aistudio.google.com", "copilot.cloud.microsoft", "kimi.ai", "kimi.moonshot.cn", "tongyi.com", "genspark.ai",
		"felo.ai", "lumo.proton.me", "bard.google.com", "labs.google", "komo.ai", "iask.ai",
	}
	if !slices.Equal(leftOut, want) {
		t.Errorf("left out are %q, want %q", leftOut, want)
	}
	all := leftOut
	defer func() { leftOut = all }()
	for i, host := range all {
		leftOut = slices.Delete(slices.Clone(all), i, i+1)
		small := minified(t, carried(referral.Table()))
		if weight := gzipped(t, small); weight <= most {
			t.Errorf("with %s t.js weighs %d bytes gzipped: there is room for it", host, weight)
		}
	}
}

func minified(t *testing.T, table []referral.Platform) []byte {
	t.Helper()
	source, err := os.ReadFile("../t.js")
	if err != nil {
		t.Fatal(err)
	}
	small, err := minify(string(source), table)
	if err != nil {
		t.Fatal(err)
	}
	return small
}

// gzipped is the most bytes of what common implementations make of text at the levels that are in use.
func gzipped(t *testing.T, text []byte) int {
	t.Helper()
	most := 0
	for level := 6; level <= 9; level++ {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, level)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		most = max(most, packed.Len(), len(fasthttp.AppendGzipBytesLevel(nil, text, level)))
	}
	return most
}

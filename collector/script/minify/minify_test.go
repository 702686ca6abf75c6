package main

import (
	"os"
	"slices"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/collector/referral"
)

// most is what t.js may weigh, in bytes gzipped as it is served.
const most = 1000

func TestServedIsWhatTheSourceMakes(t *testing.T) {
	want := minified(t, carried(referral.Table()))
	got, err := os.ReadFile("../served/t.js")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("served/t.js is not what t.js and the table make: go generate ./collector/script")
	}
	if weight := gzipped(got); weight > most {
		t.Errorf("t.js weighs %d bytes gzipped, more than %d", weight, most)
	}
}

// Only what there is no room for is left out: with any one of these hosts t.js would weigh too much.
func TestWhatIsLeftOut(t *testing.T) {
	want := []string{
		"bing.com/ck/a", "x.com/i/grok", "edgeservices.bing.com", "notebooklm.google.com",
		"yiyan.baidu.com", "ai.baidu.com", "chatglm.cn", "chatplus.com", "chat-gpt.org", "app.jasper.ai", "app.writesonic.com",
	}
	if !slices.Equal(leftOut, want) {
		t.Errorf("left out are %q, want %q", leftOut, want)
	}
	all := leftOut
	defer func() { leftOut = all }()
	for i, host := range all {
		leftOut = slices.Delete(slices.Clone(all), i, i+1)
		small := minified(t, carried(referral.Table()))
		if weight := gzipped(small); weight <= most {
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

func gzipped(text []byte) int {
	return len(fasthttp.AppendGzipBytesLevel(nil, text, fasthttp.CompressBestCompression))
}

package useragent

import "testing"

func TestLookTellsBotsFromBrowsers(t *testing.T) {
	agents := New()
	for _, ua := range browsers {
		if agent := agents.Look(ua); agent != (Agent{}) {
			t.Errorf("%q is %+v, want a browser", ua, agent)
		}
	}
}

var browsers = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
}

func BenchmarkUnknown(b *testing.B) {
	patterns()
	b.ReportAllocs()
	for b.Loop() {
		look(browsers[0])
	}
}

func BenchmarkRemembered(b *testing.B) {
	agents := New()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			agents.Look(browsers[0])
		}
	})
}

func BenchmarkPatterns(b *testing.B) {
	for b.Loop() {
		makePatterns()
	}
}

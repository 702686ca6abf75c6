package wire

import "testing"

func TestSourceParameterIsRemovedFromURLs(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/":                                       "https://a.example/",
		"https://a.example/?utm_source=openai":                     "https://a.example/",
		"https://a.example/?b=1&utm_source=openai":                 "https://a.example/?b=1",
		"https://a.example/?utm_source=openai&b=%20#c":             "https://a.example/?b=%20#c",
		"https://a.example/?utm_source=openai#c?utm_source=openai": "https://a.example/#c?utm_source=openai",
		"https://a.example/?utm_source=openai2&b":                  "https://a.example/?utm_source=openai2&b",
		"https://a.example/?utm_source=chatgpt.com&b=1":            "https://a.example/?b=1",
		"https://a.example/?x":                                     "https://a.example/?x",
	} {
		if got := withoutSource(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestCitedURLsComeFirstAndOnce(t *testing.T) {
	var d Draft
	d.Consult("https://b.example/", "")
	d.Consult("https://a.example/", "A")
	d.Consult("https://b.example/", "B")
	start := d.Write("text")
	d.Cite("https://c.example/?utm_source=openai", "", start, 4)
	d.Cite("https://b.example/", "", 0, 99)
	d.Cite("https://c.example/", "C", 0, 0)
	d.Cite("no URL", "", 0, 0)
	reply, err := d.Reply("complete", "", nil, nil)
	var got string
	for _, c := range reply.Citations {
		got += c.URL + c.Title
		if c.Cited {
			got += "!"
		}
		got += " "
	}
	if want := "https://c.example/C! https://b.example/B! https://a.example/A "; got != want || err != nil ||
		reply.Citations[0].End != 4 || reply.Citations[1].End != 0 {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

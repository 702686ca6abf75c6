package catalog

import "testing"

func TestSourceParameterIsRemovedFromURLs(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example/":                                       "https://a.example/",
		"https://a.example/?utm_source=openai":                     "https://a.example/",
		"https://a.example/?b=1&utm_source=openai":                 "https://a.example/?b=1",
		"https://a.example/?utm_source=openai&b=%20#c":             "https://a.example/?b=%20#c",
		"https://a.example/?utm_source=openai#c?utm_source=openai": "https://a.example/#c?utm_source=openai",
		"https://a.example/?utm_source=openai2&b":                  "https://a.example/?utm_source=openai2&b",
		"https://a.example/?x":                                     "https://a.example/?x",
	} {
		if got := withoutSource(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestCitedURLsComeFirstAndOnce(t *testing.T) {
	var d draft
	d.consult("https://b.example/", "")
	d.consult("https://a.example/", "A")
	d.consult("https://b.example/", "B")
	start := d.write("text")
	d.cite("https://c.example/?utm_source=openai", "", start, 4)
	d.cite("https://b.example/", "", 0, 99)
	d.cite("https://c.example/", "C", 0, 0)
	d.cite("no URL", "", 0, 0)
	reply, err := d.reply("complete", "", nil, nil)
	var got string
	for _, c := range reply.Citations {
		got += c.URL + c.Title
		if c.Cited {
			got += "!"
		}
		got += " "
	}
	if want := "https://c.example/C! https://b.example/! https://a.example/A "; got != want || err != nil || reply.Citations[0].End != 4 || reply.Citations[1].End != 0 {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestByteOffsetOfCharacters(t *testing.T) {
	for characters, want := range map[int64]int{-1: -1, 0: 0, 1: 1, 2: 3, 3: 7, 4: 8, 5: -1} {
		if got := byteOffset("aü🏕b", characters); got != want {
			t.Errorf("character %d is byte %d, want %d", characters, got, want)
		}
	}
}

package tracking

import "testing"

func TestRegionsAreCountries(t *testing.T) {
	for text, want := range map[string]string{
		"de": "de", "US": "us", "uk": "gb", "xk": "xk", "tw": "tw",
		"": "", "zz": "", "aa": "", "eu": "", "usa": "", "840": "", "d": "", "Germany": "",
	} {
		if got := country(text); got != want || IsRegion(text) != (text == want) {
			t.Errorf("%q: country %q, want %q; is a region: %t", text, got, want, IsRegion(text))
		}
	}
}

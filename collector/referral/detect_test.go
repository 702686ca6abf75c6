package referral

import "testing"

func TestDetectFollowsTheOrder(t *testing.T) {
	for _, c := range []struct{ query, referrer, platform, by string }{
		{"", "", "", ""},
		{"utm_source=perplexity&referrer=grok.com", "https://chatgpt.com/", "chatgpt", ByReferrer},
		{"utm_source=perplexity&referrer=grok.com", "https://example.org/?utm_source=claude.ai", "perplexity", ByUTM},
		{"referrer=grok.com&a=b", "https://example.org/?utm_source=claude.ai", "grok", ByParameter},
		{"a=b", "https://example.org/?utm_source=claude.ai", "claude", ByReferrerUTM},
		{"a=b", "https://example.org/?referrer=grok.com", "", ""},
	} {
		if platform, by := Detect(c.query, c.referrer); platform != c.platform || by != c.by {
			t.Errorf("Detect(%q, %q) = %q by %q, want %q by %q", c.query, c.referrer, platform, by, c.platform, c.by)
		}
	}
}

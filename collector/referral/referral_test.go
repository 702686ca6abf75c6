package referral

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/answerscope/answerscope/collector/site"
)

// detect is what the collector asks of a visit.
func detect(query, referrer string) (platform, by string) {
	host, path, referrerQuery, _ := site.ParsePage(referrer)
	return Detect(query, host, path, referrerQuery)
}

func TestDetectFollowsTheOrder(t *testing.T) {
	const plain, chatgpt, claude = "https://example.org/", "https://chatgpt.com/",
		"https://example.org/?utm_source=claude.ai&referrer=grok.com"
	is(t, "", "", "", "")
	is(t, "utm_source=perplexity&referrer=grok.com", chatgpt, "chatgpt", ByReferrer)
	is(t, "utm_source=perplexity&referrer=grok.com", claude, "perplexity", ByUTM)
	is(t, "referrer=grok.com&utm_source=perplexity", claude, "perplexity", ByUTM)
	is(t, "referrer=grok.com&a=b", claude, "grok", ByParameter)
	is(t, "utm_source=newsletter&referrer=grok.com", plain, "grok", ByParameter)
	is(t, "utm_source=newsletter&a=b", claude, "claude", ByReferrerUTM)
	is(t, "a=b", plain+"?referrer=grok.com", "", "")
	is(t, "utm_source=perplexity&utm_source=claude", plain, "perplexity", ByUTM)
}

// The hosts that must be known at least, each with what is nearly it.
func TestDetectKnowsTheHostsOfTheField(t *testing.T) {
	for slug, urls := range map[string]string{
		"chatgpt":    "chatgpt.com chat.openai.com search.chatgpt.com openai.com labs.openai.com",
		"perplexity": "perplexity.ai www.perplexity.ai", "claude": "claude.ai",
		"gemini": "gemini.google.com bard.google.com notebooklm.google.com labs.google aistudio.google.com",
		"copilot": "copilot.microsoft.com m365.cloud.microsoft copilot.cloud.microsoft copilot.com " +
			"www.bing.com/ck/a?!&&p=1 bing.com/ck/a",
		"grok":    "grok.com x.ai x.com/i/grok?conversation=1 x.com/i/grok",
		"meta-ai": "meta.ai www.meta.ai", "mistral": "chat.mistral.ai", "deepseek": "chat.deepseek.com",
		"you": "you.com", "phind": "phind.com", "poe": "poe.com", "kagi": "kagi.com",
		"duck-ai": "duck.ai", "komo": "komo.ai", "andi": "andisearch.com", "pi": "pi.ai",
		"kimi":   "kimi.com www.kimi.com kimi.ai kimi.moonshot.cn",
		"doubao": "doubao.com", "yuanbao": "yuanbao.tencent.com",
		"qwen": "qwen.ai chat.qwen.ai tongyi.com", "iask": "iask.ai", "ernie": "yiyan.baidu.com ai.baidu.com",
		"chatplus": "chatplus.com chat-gpt.org", "chatglm": "chatglm.cn",
		"genspark": "genspark.ai www.genspark.ai", "felo": "felo.ai", "lumo": "lumo.proton.me",
		"jasper": "app.jasper.ai", "writesonic": "app.writesonic.com",
	} {
		for rest := range strings.FieldsSeq(urls) {
			is(t, "", "https://"+rest, slug, ByReferrer)
		}
	}
	for rest := range strings.FieldsSeq(
		`chatgpt.com.evil.example claude.workers.dev x.com x.com/home x.com/i/grokking x.com/i/ max.ai mapi.ai
		youtube.com thankyou.com poe.company kagi.company google.com www.google.com/search bing.com
		www.bing.com/search?q=/ck/a bing.com/ck/ab microsoft.com baidu.com www.baidu.com tencent.com mistral.ai
		deepseek.com jasper.ai writesonic.com openai.community notchatgpt.com chat-gpt.org.example perplexity.ai.example
		cloud.microsoft meta.com`) {
		nothing(t, "", "https://"+rest)
	}
	for word := range strings.FieldsSeq("google bing x x.com bing.com meta facebook chat gpt ai newsletter " +
		`chatgpt.com.evil.example evil.example\.chatgpt.com claude.workers.dev`) {
		nothing(t, "utm_source="+word, "")
	}
}

// A name or a value that is longer than all of the table is passed over, whatever it begins with.
func TestDetectPassesOverWhatIsTooLong(t *testing.T) {
	long := strings.Repeat("a", maxHost)
	nothing(t, "utm_source="+long+".chatgpt.com&"+long+"=1&referrer="+long, "https://"+long+".chatgpt.com/")
	is(t, long+"=1&utm_source="+long+"&utm_source=chatgpt", "", "chatgpt", ByUTM)
	fits := strings.Repeat("a.", (maxHost-len("chatgpt.com"))/2) + "chatgpt.com"
	is(t, "utm_source="+escaped(fits), "", "chatgpt", ByUTM)
	is(t, "", "https://"+fits, "chatgpt", ByReferrer)
}

func TestDetectDoesNotAllocate(t *testing.T) {
	for _, c := range visits {
		if n := testing.AllocsPerRun(100, func() { detect(c.query, c.referrer) }); n != 0 {
			t.Errorf("Detect(%q, %q) allocates %v times", c.query, c.referrer, n)
		}
	}
}

var visits = []struct{ name, query, referrer string }{
	{"referrer", "", "https://chatgpt.com/"},
	{"utm", "utm_source=chatgpt.com", ""},
	{"nothing", "", ""},
	{"elsewhere", "gclid=EAIaIQobChMI&utm_source=newsletter&utm_medium=email&utm_campaign=spring%20sale",
		"https://www.shop.example.org/de/products/?page=2&utm_source=newsletter#top"},
}

func BenchmarkDetect(b *testing.B) {
	for _, c := range visits {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				detect(c.query, c.referrer)
			}
		})
	}
}

// FuzzDetect compares Detect with the plainest way to say the same, out of net/url.
func FuzzDetect(f *testing.F) {
	for _, c := range visits {
		f.Add(c.query, c.referrer)
	}
	for _, row := range Table() {
		for _, host := range row.Hosts {
			f.Add("a=b&utm_source="+escaped(host.Name),
				"https://WWW."+host.Name+".:443"+host.Path+"/c?utm_source="+row.Slug+"#x")
			f.Add("referrer="+host.Name, "https://"+host.Name+".evil.example"+host.Path)
		}
	}
	f.Add("utm_source=%zz&utm_source=+chatgpt", `http://evil.example\.chatgpt.com/?&&=&utm_source=claude`)
	f.Fuzz(func(t *testing.T, query, referrer string) {
		platform, by := detect(query, referrer)
		if (platform == "") != (by == "") || platform != "" && !Known(platform) {
			t.Errorf("Detect(%q, %q) = %q by %q", query, referrer, platform, by)
		}
		wantPlatform, wantBy, sure := naive(query, referrer)
		if sure && (platform != wantPlatform || by != wantBy) {
			t.Errorf("Detect(%q, %q) = %q by %q, plainly %q by %q", query, referrer, platform, by, wantPlatform, wantBy)
		}
	})
}

// naive is not sure of what net/url refuses, of hosts and values that are out of bounds, and of international hosts.
func naive(query, referrer string) (platform, by string, sure bool) {
	page, ok := naiveQuery(strings.TrimPrefix(query, "?"))
	if !ok {
		return "", "", false
	}
	u, err := url.Parse(referrer)
	if err != nil {
		return "", "", false
	}
	from, ok := naiveQuery(u.RawQuery)
	if !ok {
		return "", "", false
	}
	_, _, _, web := site.ParsePage(referrer)
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return "", "", false
	}
	for _, row := range Table() {
		for _, host := range row.Hosts {
			if web && naiveHost(u.Host, host.Name) &&
				(host.Path == "" || strings.HasPrefix(u.EscapedPath()+"/", host.Path+"/")) {
				return row.Slug, ByReferrer, true
			}
		}
	}
	if slug := naiveUTM(page); slug != "" {
		return slug, ByUTM, true
	}
	for _, p := range page {
		for _, row := range Table() {
			if slices.Contains(row.Parameters, Parameter{p[0], p[1]}) {
				return row.Slug, ByParameter, true
			}
		}
	}
	if slug := naiveUTM(from); web && slug != "" {
		return slug, ByReferrerUTM, true
	}
	return "", "", true
}

func naiveQuery(query string) (pairs [][2]string, ok bool) {
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, errName := url.QueryUnescape(name)
		value, errValue := url.QueryUnescape(value)
		if errName != nil || errValue != nil || len(name) > maxName || len(value) > maxHost {
			return nil, false
		}
		pairs = append(pairs, [2]string{asciiLower(name), asciiLower(value)})
	}
	return pairs, true
}

func naiveUTM(pairs [][2]string) string {
	for _, p := range pairs {
		if i := strings.IndexAny(p[1], "/:"); i >= 0 {
			p[1] = p[1][:i]
		}
		for _, row := range Table() {
			for _, value := range append([]string{row.Slug}, row.UTM...) {
				if p[0] == "utm_source" && p[1] == value {
					return row.Slug
				}
			}
			for _, host := range row.Hosts {
				if p[0] == "utm_source" && host.Path == "" && !strings.HasSuffix(p[1], ".") &&
					naiveHost(p[1], host.Name) {
					return row.Slug
				}
			}
		}
	}
	return ""
}

func naiveHost(given, host string) bool {
	given = asciiLower(given)
	if before, after, found := strings.Cut(given, ":"); found && strings.Trim(after, "0123456789") == "" {
		given = before
	}
	given = strings.TrimSuffix(given, ".")
	strange := strings.Trim(given, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" ||
		strings.Contains("."+given+".", "..") || len(given) > maxHost-1
	return !strange && (given == host || strings.HasSuffix(given, "."+host))
}

func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

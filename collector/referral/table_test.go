package referral

import (
	"strings"
	"testing"
)

// Every row of the table is found by all that it lists, and by nothing that merely looks like it.
func TestEveryRow(t *testing.T) {
	for _, row := range Table() {
		t.Run(row.Slug, func(t *testing.T) {
			if !Known(row.Slug) || row.Name == "" {
				t.Errorf("%+v: not known, or without a name", row)
			}
			utm := append([]string{row.Slug}, row.UTM...)
			for _, host := range row.Hosts {
				detected(t, row.Slug, host)
				lookalikes(t, host)
				if host.Path == "" {
					utm = append(utm, host.Name, "www."+host.Name)
					is(t, "utm_source="+host.Name+"/", "", row.Slug, ByUTM)
					is(t, "utm_source=www."+host.Name+":443&b", "", row.Slug, ByUTM)
				} else {
					nothing(t, "utm_source="+host.Name, "")
					nothing(t, "utm_source="+host.Name+host.Path, "")
				}
			}
			for _, value := range utm {
				for _, query := range []string{"utm_source=" + value, "?utm_source=" + strings.ToUpper(value),
					"a=1&UTM_Source=" + escaped(value) + "&b=%",
					"utm_source=newsletter&utm_source=" + value, "utm%5fsource=" + value,
					"utm_source&utm_source=&&utm_source=" + value} {
					is(t, query, "https://example.org/chatgpt.com", row.Slug, ByUTM)
					is(t, "", "https://example.org/?"+strings.TrimPrefix(query, "?")+"#chatgpt.com", row.Slug,
						ByReferrerUTM)
				}
				for _, query := range []string{"utm_medium=" + value, "utm_sources=" + value, "xutm_source=" + value,
					"utm_source=x" + value + "x",
					"utm_source=x-" + strings.TrimPrefix(value, "www."), "#utm_source=" + value, "utm_source+=" + value,
					"utm_source=" + value + "%00", "utm_source=" + value + ".example"} {
					nothing(t, query, "https://example.org/#?"+query)
				}
			}
			for _, app := range row.Apps {
				for _, wrong := range []string{app + ".evil", "evil." + app, app[1:], app[:len(app)-1], ""} {
					if OfApp(app) != row.Slug || OfApp(wrong) != "" {
						t.Errorf("%s is an app of %q, %s of %q", app, OfApp(app), wrong, OfApp(wrong))
					}
				}
				nothing(t, "", "android-app://"+app+"/")
				nothing(t, "utm_source="+app, "")
			}
			for _, p := range row.Parameters {
				is(t, "a=1&"+p.Name+"="+p.Value, "", row.Slug, ByParameter)
				is(t, strings.ToUpper(p.Name)+"="+escaped(p.Value), "", row.Slug, ByParameter)
				nothing(t, "x"+p.Name+"="+p.Value, "")
				nothing(t, p.Name+"="+p.Value+".evil.example", "")
				nothing(t, "", "https://example.org/?"+p.Name+"="+p.Value)
			}
		})
	}
}

func detected(t *testing.T, slug string, host Host) {
	t.Helper()
	for _, authority := range []string{
		host.Name, "www." + host.Name, "a.b." + host.Name, host.Name + ":443", host.Name + ".",
		"WWW." + strings.ToUpper(host.Name) + ".:8080",
	} {
		for _, end := range []string{"/", "?q=1", "#top", "/c/1?utm_source=bing", ""} {
			is(t, "utm_source=newsletter", "https://"+authority+host.Path+end, slug, ByReferrer)
			is(t, "", "HTTP://"+authority+host.Path+end, slug, ByReferrer)
		}
	}
}

func lookalikes(t *testing.T, host Host) {
	t.Helper()
	name := host.Name
	for _, authority := range []string{name + ".evil.example", "evil" + name, "evil-" + name, name + "m",
		strings.Replace(name, ".", "-", 1) + ".example",
		name + "@evil.example", "evil.example@" + name, "evil.example:80@" + name, name + ":80@evil.example",
		`evil.example\.` + name, "." + name, "a.." + name, name + "..",
		"evil.example%2e" + name, "evil.example " + name, "[" + name + "]", name + ":https",
		strings.Replace(name, "a", "а", 1) + "é"} {
		nothing(t, "", "https://"+authority+host.Path)
	}
	for _, url := range []string{"https://evil.example/" + name, "https://evil.example/?" + name,
		"https://evil.example/#https://" + name, "https://evil.example?https://" + name + "/",
		name, "//" + name + host.Path, "https:/" + name, "ftp://" + name + host.Path,
		"javascript:https://" + name + host.Path, " https://" + name + host.Path} {
		nothing(t, "", url)
	}
	if host.Path != "" {
		for _, path := range []string{
			"", "/", "/x" + host.Path, host.Path + "x", strings.ToUpper(host.Path), "?p=" + host.Path,
			strings.TrimSuffix(host.Path, host.Path[len(host.Path)-1:]),
		} {
			nothing(t, "", "https://"+name+path)
		}
	}
}

// Two rows that claim one host, or a word in upper case, which is compared with lower ones, would never be found.
func TestTheTableIsSound(t *testing.T) {
	claimed := map[string]string{}
	claim := func(what, slug string) {
		if claimed[what] != "" {
			t.Errorf("%s and %s both claim %s", claimed[what], slug, what)
		}
		if claimed[what] = slug; what != strings.ToLower(what) || strings.ContainsAny(what, " \t%?#@:") ||
			strings.Trim(what, "./") != what {
			t.Errorf("%s: %q is not in the form that it is compared in", slug, what)
		}
	}
	for _, row := range Table() {
		claim(row.Slug, row.Slug)
		if strings.Trim(row.Slug, "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("%q: the pixel takes what comes before a digit for a session's platform", row.Slug)
		}
		for _, word := range row.UTM {
			claim(word, row.Slug)
		}
		for _, host := range row.Hosts {
			claim(host.Name+host.Path, row.Slug)
			if len(host.Name) > maxHost || !plain([]byte(host.Name)) || !strings.Contains(host.Name, ".") ||
				host.Path != "" && host.Path[0] != '/' {
				t.Errorf("%s: %+v is no host", row.Slug, host)
			}
		}
		for _, p := range row.Parameters {
			claim(p.Name+"="+p.Value, row.Slug)
			if len(p.Name) > maxName || len(p.Value) > maxHost || p.Name == "utm_source" {
				t.Errorf("%s: %+v would not be looked up", row.Slug, p)
			}
		}
	}
	Table()[0].Hosts[0].Name = "changed.example"
	if Table()[0].Hosts[0].Name == "changed.example" {
		t.Error("a caller can change the table")
	}
	for _, slug := range []string{"", "ChatGPT", "chatgpt.com", "openai", "google"} {
		if Known(slug) {
			t.Errorf("%q is known", slug)
		}
	}
}

func is(t *testing.T, query, referrer, platform, by string) {
	t.Helper()
	if gotPlatform, gotBy := detect(query, referrer); gotPlatform != platform || gotBy != by {
		t.Errorf("Detect(%q, %q) = %q by %q, want %q by %q", query, referrer, gotPlatform, gotBy, platform, by)
	}
}

func nothing(t *testing.T, query, referrer string) {
	t.Helper()
	is(t, query, referrer, "", "")
}

// escaped writes every byte as an escape, by turns in both cases.
func escaped(text string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte('%')
		b.WriteByte(digits[text[i]>>4])
		b.WriteByte(strings.ToUpper(digits)[text[i]&15])
	}
	return b.String()
}

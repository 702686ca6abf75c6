package extract

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// mostRedirects is how many redirects are followed that are inside each other.
const mostRedirects = 3

// redirects are parts of which every redirect has one, so that other addresses are not parsed.
var redirects = []string{
	"google.", "cdn.ampproject.org/", "bing.com/ck/a", "duckduckgo.com/l/", "search.yahoo.com/", "facebook.com/l.php",
	"youtube.com/redirect",
}

// destination returns the page in the address of a redirect, else the address itself. ok is false for a redirect of
// Gemini's API without a title that names a host: its titles are hosts, which stand for the page.
func destination(address, title string) (page string, ok bool) {
	for range mostRedirects {
		if !slices.ContainsFunc(redirects, func(part string) bool { return strings.Contains(address, part) }) {
			break
		}
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			break
		}
		host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
		if host == "vertexaisearch.cloud.google.com" && strings.HasPrefix(u.Path, "/grounding-api-redirect/") {
			if !namesHost.MatchString(title) {
				return address, false
			}
			return "https://" + title + "/", true
		}
		target := targetOf(host, u)
		if !isWebAddress(target) {
			break
		}
		address = target
	}
	return address, true
}

var (
	namesHost  = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$`)
	google     = regexp.MustCompile(`^google(\.[a-z]{2,3}){1,2}$`)
	googleAMP  = regexp.MustCompile(`^/amp/(s/)?(.+)$`)
	ampCache   = regexp.MustCompile(`^/[a-z]{1,3}/(s/)?(.+)$`) // c, v, wp: a document, its viewer, its package
	yahooField = regexp.MustCompile(`/RU=([^/]+)/`)
)

// targetOf returns the target in the address of a redirect at a host; "" if there is none.
func targetOf(host string, u *url.URL) string {
	parameter := func(name string) string { return u.Query().Get(name) }
	switch {
	case google.MatchString(host) && u.Path == "/url":
		if target := parameter("q"); target != "" {
			return target
		}
		return parameter("url")
	case google.MatchString(host):
		return embedded(googleAMP, u)
	case strings.HasSuffix(host, ".cdn.ampproject.org"):
		return embedded(ampCache, u)
	case host == "bing.com" && u.Path == "/ck/a":
		coded, _ := strings.CutPrefix(parameter("u"), "a1")
		target, _ := base64.RawURLEncoding.DecodeString(strings.TrimRight(coded, "="))
		return string(target)
	case host == "duckduckgo.com" && u.Path == "/l/":
		return parameter("uddg")
	case strings.HasSuffix(host, "search.yahoo.com"):
		if field := yahooField.FindStringSubmatch(u.EscapedPath()); field != nil {
			target, _ := url.PathUnescape(field[1])
			return target
		}
	case (host == "l.facebook.com" || host == "lm.facebook.com") && u.Path == "/l.php":
		return parameter("u")
	case host == "youtube.com" && u.Path == "/redirect":
		return parameter("q")
	}
	return ""
}

// embedded returns the address in the path of an AMP cache, where s/ stands for https.
func embedded(form *regexp.Regexp, u *url.URL) string {
	parts := form.FindStringSubmatch(u.EscapedPath())
	if parts == nil || !strings.Contains(strings.SplitN(parts[2], "/", 2)[0], ".") {
		return ""
	}
	scheme := "http://"
	if parts[1] != "" {
		scheme = "https://"
	}
	target := scheme + parts[2]
	if u.RawQuery != "" {
		target += "?" + u.RawQuery
	}
	return target
}

// isWebAddress reports whether a text is http or https with a host.
func isWebAddress(text string) bool {
	_, host, ok := normalise(text)
	return ok && host != ""
}

package oauth

import (
	"testing"

	"github.com/answerscope/answerscope/sql/postgres"
)

func TestBrowsersAreSentToAppsAlone(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://claude.ai/api/mcp/auth_callback": "claude.ai", "https://a.example:8443/cb?x=1": "a.example:8443",
		"http://127.0.0.1:33418/": "http://127.0.0.1:33418 on this computer",
		"http://[::1]/cb":         "http://[::1] on this computer",
		"http://localhost/cb":     "http://localhost on this computer",
		"cursor://x.y/oauth":      "cursor://x.y on this computer",
		"com.example.app:/cb":     "com.example.app:// on this computer",
	} {
		if got := hostOf(uri); !isRedirect(uri) || got != want {
			t.Errorf("%s: %v, %q", uri, isRedirect(uri), got)
		}
	}
	for _, uri := range []string{
		"", "/cb", "//a.example/cb", "a.example/cb", "https:///cb", "https:cb", "http://a.example/cb",
		"http://10.0.0.1/", "https://u:p@a.example/", "https://a.example/#", "javascript:alert(1)",
		"JavaScript://a/%0aalert(1)",
		"data:text/html,x", "file:///etc/passwd", "https://a.example/\x00", "https://a.example/\xff",
		"mailto:a@b.example",
	} {
		if isRedirect(uri) {
			t.Errorf("%q is one", uri)
		}
	}
	app := postgres.OAuthClient{
		RedirectURIs: []string{"http://127.0.0.1/cb", "http://[::1]:5/cb", "https://a.example/cb"}}
	for uri, want := range map[string]bool{
		"http://127.0.0.1:99/cb": true, "http://[::1]/cb": true, "https://a.example/cb": true,
		"http://localhost/cb": false, "http://127.0.0.1/cb/": false, "https://127.0.0.1/cb": false,
		"https://a.example:443/cb": false, "https://A.example/cb": false, "http://127.0.0.2/cb": false,
	} {
		if permits(app, uri) != want {
			t.Errorf("%s: want %v", uri, want)
		}
	}
}

func TestTheResourceIsMCPOfThisInstallation(t *testing.T) {
	t.Parallel()
	i := &Issuer{url: "https://Answers.example"}
	for resource, want := range map[string]bool{
		"https://answers.example/mcp": true, "HTTPS://ANSWERS.example/mcp/": true, "https://answers.example": false,
		"https://answers.example/MCP": false, "https://answers.example/mcp/x": false,
		"http://answers.example/mcp":   false,
		"https://answers.example/mcp?": false, "https://u@answers.example/mcp": false,
		"https://answers.example:8443/mcp": false, "": false, "mcp": false, "%": false,
	} {
		if i.isResource(resource) != want {
			t.Errorf("%q: want %v", resource, want)
		}
	}
}

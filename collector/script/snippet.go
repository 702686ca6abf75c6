package script

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A Tag is the pixel of one brand, served at one address.
type Tag struct{ base, brand string }

// NewTag makes the tag of a brand, by its id, for a collector that browsers reach at base, https://collector.example; a
// path is part of it, where a proxy puts one in front.
func NewTag(base, brand string) (Tag, error) {
	address, err := url.Parse(base)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return Tag{}, fmt.Errorf("address %q: want https://host", base)
	}
	if address.User != nil || strings.ContainsAny(base, "'\"<>&`\\ ?#") {
		return Tag{}, fmt.Errorf("address %q: want a host and at most a path, in plain characters", base)
	}
	return Tag{strings.TrimRight(base, "/"), brand}, nil
}

// Script is the address of the newest version.
func (t Tag) Script() string { return t.base + Path }

// Pinned is the address of the present version, whose content never changes (Integrity).
func (t Tag) Pinned() string { return t.base + VersionedPath() }

// Collect is the address to which the script posts beacons: a page's Content-Security-Policy must allow it.
func (t Tag) Collect() string { return t.base + "/t/collect" }

// A Snippet is text to paste.
type Snippet struct {
	As    string // name: html, html-pinned, wordpress, gtm, nextjs
	Where string // to paste it, a sentence
	Text  string
}

// snippets has a snippet for each kind of site. {script}, {pinned}, {integrity} and {brand} are the tag's.
var snippets = []Snippet{
	{"html", "In the <head> of every page:", `<script src="{script}" data-brand="{brand}" defer></script>`},
	{
		"html-pinned",
		"The same, of this one version, whose content the browser checks; to be pasted again for another one:",
		`<script src="{pinned}" integrity="{integrity}" crossorigin="anonymous" data-brand="{brand}" defer></script>`,
	},
	{
		"wordpress",
		"In the functions.php of the child theme, or in a plugin for code snippets (WordPress 5.7 or later):",
		`add_action('wp_head', function () {
    wp_print_script_tag(['src' => '{script}', 'data-brand' => '{brand}', 'defer' => true]);
});`,
	},
	{
		"gtm",
		"In Google Tag Manager, a tag of type Custom HTML with the trigger Initialization - All Pages:",
		`<script>
  (function () {
    var script = document.createElement('script');
    script.src = '{script}';
    script.setAttribute('data-brand', '{brand}');
    document.head.appendChild(script);
  })();
</script>`,
	},
	{
		"nextjs", "In app/layout.tsx, within <body> (pages router: pages/_app.tsx):",
		`import Script from 'next/script'

<Script src="{script}" data-brand="{brand}" strategy="afterInteractive" />`,
	},
}

// Snippets returns one for each kind of site.
func (t Tag) Snippets() []Snippet {
	fill := strings.NewReplacer(
		"{script}", t.Script(), "{pinned}", t.Pinned(), "{integrity}", Integrity(), "{brand}", t.brand)
	all := slices.Clone(snippets)
	for i := range all {
		all[i].Text = fill.Replace(all[i].Text)
	}
	return all
}

// Snippet returns the snippet of a name.
func (t Tag) Snippet(as string) (Snippet, error) {
	for _, s := range t.Snippets() {
		if s.As == as {
			return s, nil
		}
	}
	return Snippet{}, errors.New("no snippet for " + as)
}

package script

import (
	"errors"
	"fmt"
	"net/url"
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

// Pinned is the address of the version of now, whose content is that of Integrity for ever.
func (t Tag) Pinned() string { return t.base + VersionedPath() }

// Collect is where the script posts beacons: what a page's Content-Security-Policy must let it connect to.
func (t Tag) Collect() string { return t.base + "/t/collect" }

// A Snippet is text to paste.
type Snippet struct {
	As    string // how it is asked for: html, html-pinned, wordpress, gtm, nextjs
	Where string // it is pasted, a sentence
	Text  string
}

// Snippets returns one for each kind of site.
func (t Tag) Snippets() []Snippet {
	return []Snippet{
		{"html", "In the <head> of every page:", fmt.Sprintf(
			`<script src="%s" data-brand="%s" defer></script>`, t.Script(), t.brand)},
		{"html-pinned", "The same, of this one version, whose content the browser checks; to be pasted again for another one:", fmt.Sprintf(
			`<script src="%s" integrity="%s" crossorigin="anonymous" data-brand="%s" defer></script>`, t.Pinned(), Integrity(), t.brand)},
		{"wordpress", "In the functions.php of the child theme, or in a plugin for code snippets (WordPress 5.7 or later):", fmt.Sprintf(
			`add_action('wp_head', function () {
    wp_print_script_tag(['src' => '%s', 'data-brand' => '%s', 'defer' => true]);
});`, t.Script(), t.brand)},
		{"gtm", "In Google Tag Manager, a tag of type Custom HTML with the trigger Initialization - All Pages:", fmt.Sprintf(
			`<script>
  (function () {
    var script = document.createElement('script');
    script.src = '%s';
    script.setAttribute('data-brand', '%s');
    document.head.appendChild(script);
  })();
</script>`, t.Script(), t.brand)},
		{"nextjs", "In app/layout.tsx, within <body> (pages router: pages/_app.tsx):", fmt.Sprintf(
			`import Script from 'next/script'

<Script src="%s" data-brand="%s" strategy="afterInteractive" />`, t.Script(), t.brand)},
	}
}

// Snippet returns the one asked for.
func (t Tag) Snippet(as string) (Snippet, error) {
	for _, s := range t.Snippets() {
		if s.As == as {
			return s, nil
		}
	}
	return Snippet{}, errors.New("no snippet for " + as)
}

package platform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The simulator's slugs: answers under them are marked as simulated.
const (
	Simulator         = "simulator"
	SimulatorShopping = "simulator-shopping"
)

// Slugs lists every platform that answerscope knows by name, in the order in which they are shown.
var Slugs = []string{
	"openai", "anthropic", "gemini", "perplexity", "xai", "mistral", // official APIs
	"google-ai-overview", "google-ai-mode", "bing-copilot", // search pages
	"chatgpt-web", "chatgpt-shopping", "perplexity-web", "gemini-web", "copilot-web", "grok-web", // captured as consumers see them
	Simulator, SimulatorShopping,
}

// Simulated reports whether the simulator made the answers under slug.
func Simulated(slug string) bool { return slug == Simulator || slug == SimulatorShopping }

// Registry holds the platforms that this process can ask, by slug.
type Registry map[string]Platform

// Get returns the platform of slug. The error distinguishes an unknown name from a platform that is not available here,
// and lists those that are.
func (r Registry) Get(slug string) (Platform, error) {
	if p, ok := r[slug]; ok {
		return p, nil
	}
	if slices.Contains(Slugs, slug) {
		return nil, fmt.Errorf("platform %s is not available here: available are %s", slug, strings.Join(r.Available(), ", "))
	}
	return nil, fmt.Errorf("platform %q is unknown: known are %s", slug, strings.Join(Slugs, ", "))
}

// Available lists the slugs that can be asked, by name.
func (r Registry) Available() []string { return slices.Sorted(maps.Keys(r)) }

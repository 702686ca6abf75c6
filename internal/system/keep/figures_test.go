package keep

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/internal/testkit/wait"
)

// figures are what the API says of a brand, without ids, which are others on every installation.
func figures(t *testing.T, i *run.Installation, brand string) map[string]string {
	t.Helper()
	bodies := map[string]string{}
	for _, path := range []string{
		"visibility-summary", "visibility-trend", "competitor-comparison", "citations", "prompt-performance",
		"shopping-cards", "filters", "ai-traffic", "ai-crawlers",
	} {
		status, body := run.Fetch(t, i.URL+"/api/v1/"+path+run.Window(brand), i.Key)
		var document any
		if err := json.Unmarshal([]byte(body), &document); err != nil || status != 200 {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		bodies[path] = nameless(document)
	}
	return bodies
}

var anID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// nameless is a document without ids, its lists in an order that does not depend on them.
func nameless(document any) string {
	switch d := document.(type) {
	case []any:
		var all []string
		for _, one := range d {
			all = append(all, nameless(one))
		}
		slices.Sort(all)
		return "[" + strings.Join(all, ",") + "]"
	case map[string]any:
		var all []string
		for name, one := range d {
			if name != "next_cursor" { // of ids
				all = append(all, name+":"+nameless(one))
			}
		}
		slices.Sort(all)
		return "{" + strings.Join(all, ",") + "}"
	case string:
		return anID.ReplaceAllString(d, "ID")
	}
	return fmt.Sprint(document)
}

// settled waits until the summary of a brand counts so many answers and has other parts.
func settled(t *testing.T, i *run.Installation, brand string, answers int, parts ...string) {
	t.Helper()
	parts = append(parts, fmt.Sprintf(`"resultCount":%d,`, answers))
	wait.Until(t, func() string {
		_, body := run.Fetch(t, i.URL+"/api/v1/visibility-summary"+run.Window(brand), i.Key)
		for _, part := range parts {
			if !strings.Contains(body, part) {
				return fmt.Sprintf("the summary lacks %s: %s", part, body)
			}
		}
		return ""
	})
}

package people

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var parameter = regexp.MustCompile(`:(\w+)`)

// described compares the routes of /api with its description; that of /api/v1 has a test of its own.
func (s *tenancy) described(t *testing.T) {
	var described, served []string
	for _, name := range []string{"queryapi/auth", "ingest/tracking/api"} {
		text, err := os.ReadFile("../../../" + name + "/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		var document struct{ Paths map[string]map[string]any }
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		for path, methods := range document.Paths {
			if strings.HasPrefix(path, "/api/shares") || strings.HasPrefix(path, "/api/invitations") ||
				strings.HasPrefix(path, "/api/apps") {
				continue // not beside an outside issuer; the tests of queryapi ask them
			}
			for method := range methods {
				described = append(described, strings.ToUpper(method)+" "+strings.ReplaceAll(path, "{jobId}", "{id}"))
			}
		}
	}
	described = append(described, "GET /api/tracking/openapi.json") // itself
	for _, known := range s.served.App.GetRoutes(true) {
		if r := (route{known.Method,
			parameter.ReplaceAllString(known.Path, "{$1}")}); (r.surface() == "/api" ||
			r.surface() == "/api/tracking") && r.method != http.MethodHead {
			served = append(served, fmt.Sprint(r))
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described %q, served %q", described, served)
	}
}

package rest

import "testing"

// A browser sends the dashboard's cookie from every page of its site, so an origin of the list may read /rest/v1 and
// not the dashboard's copy of it. The copy once answered it with credentials.
func TestThePrefixOfACookieIsForItsOwnOrigin(t *testing.T) {
	api := New(Config{Prefix: "/rest/v1", Origins: []string{"https://reports.example"}}, nil, nil, nil)
	for _, method := range []string{"GET", "OPTIONS"} {
		r := rawRequest{
			method: method, headers: [][2]string{
				{"Origin", "https://reports.example"}, {"Access-Control-Request-Method", "GET"},
			},
		}
		if len(api.corsHeaders(r)) == 0 {
			t.Errorf("%s of a listed origin is not shared", method)
		}
		if headers := api.At("/app/api/rest/v1", nil).corsHeaders(r); headers != nil {
			t.Errorf("%s is answered with %q", method, headers)
		}
	}
}

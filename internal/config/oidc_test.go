package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Each change of right settings is refused, with what would be right; none shows the secret.
func TestAnOpenIDProviderIsSetAsAWhole(t *testing.T) {
	right := []string{"ANSWERSCOPE_OIDC_ISSUER=https://id.example/realms/acme",
		"ANSWERSCOPE_OIDC_CLIENT_ID=answerscope",
		"ANSWERSCOPE_OIDC_CLIENT_SECRET=" + hidden, "ANSWERSCOPE_OIDC_ALLOWED_DOMAINS=acme.example",
		"ANSWERSCOPE_OIDC_ORGANIZATION=acme"}
	for _, test := range []struct {
		change []string
		public string
		want   string // "": it is right
	}{
		{nil, "https://answers.example", ""},
		{[]string{"ANSWERSCOPE_OIDC_ISSUER=http://127.0.0.1:9000"}, "http://localhost:8080", ""},
		{[]string{"ANSWERSCOPE_OIDC_ISSUER="}, "https://answers.example",
			`ANSWERSCOPE_OIDC_ISSUER is "": want the issuer`},
		{[]string{"ANSWERSCOPE_OIDC_ISSUER=http://id.example"}, "https://answers.example", `want https://…`},
		{[]string{"ANSWERSCOPE_OIDC_CLIENT_ID="}, "https://answers.example", "ANSWERSCOPE_OIDC_CLIENT_ID is"},
		{[]string{"ANSWERSCOPE_OIDC_CLIENT_SECRET="}, "https://answers.example", "ANSWERSCOPE_OIDC_CLIENT_SECRET is"},
		{[]string{"ANSWERSCOPE_OIDC_ORGANIZATION="}, "https://answers.example",
			"together with ANSWERSCOPE_OIDC_ALLOWED_DOMAINS"},
		{[]string{"ANSWERSCOPE_OIDC_TRUST_EMAIL=yes"}, "https://answers.example", "true or false"},
		{nil, "", "PUBLIC_URL/signin/oidc/callback"},
		{nil, "http://answers.example", "PUBLIC_URL/signin/oidc/callback"},
		{[]string{"ANSWERSCOPE_ISSUER=https://issuer.example", "ANSWERSCOPE_JWT_SECRET=" + strings.Repeat(hidden, 8)},
			"https://answers.example",
			"either it or ANSWERSCOPE_ISSUER: with access tokens of another issuer the dashboard"},
	} {
		s := Settings{DataDir: "./var", MinFree: 256 << 20, LogLevel: "info", LogFormat: "text",
			Kafka:     Kafka{Partitions: 6, Replicas: 1, Retention: 168 * time.Hour},
			PublicURL: test.public, Outside: FromEnvironment(append(slices.Clip(right), test.change...))}
		err := s.Validate()
		if (err == nil) != (test.want == "") ||
			err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), hidden)) {
			t.Errorf("%q at %q: %v", test.change, test.public, err)
		}
	}
}

func TestTheButtonNamesTheProvider(t *testing.T) {
	for want, o := range map[string]OIDC{
		"Corp": {Issuer: "https://id.example/x", Label: "Corp"}, "id.example": {Issuer: "https://id.example/x"},
	} {
		if got := o.Name(); got != want {
			t.Errorf("%+v is called %s", o, got)
		}
	}
}

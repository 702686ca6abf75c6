package feed

import (
	"strings"
	"testing"
)

// Once, an organization called "your account is locked, confirm at https://…" was the subject of mails to strangers.
func TestASubjectQuotesTheOrganization(t *testing.T) {
	for name, want := range map[string]string{
		"Acme":                               "Do you want mails from “Acme”?",
		"Confirm at https://evil.example/in": "Do you want mails from “Confirm at https evil.example/in”?",
		strings.Repeat("ü", 61):              "Do you want mails from “" + strings.Repeat("ü", 60) + "…”?",
	} {
		if got := (&Link{Template: Confirm, Organization: name}).Headline(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

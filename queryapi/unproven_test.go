package queryapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/queryapi/auth"
)

// Once, an inviter who saw the link made somebody else's account, who then signed in to the inviter's organization.
func TestAnAllowedDomainOutranksAnUnprovenAccount(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	w := newUsers(t, func(s *config.Settings) {
		f.of(s)
		s.Mail.URL = config.DSN{}
	})
	second := w.add(t, w.other, "second@example.com", "owner")
	accept := func(inviter, email, role string) *client {
		a := w.as(t, inviter).post(t, "/app/api/invitations", `{"email":"`+email+`","role":"`+role+`"}`)
		var shown struct{ URL string }
		if err := json.Unmarshal([]byte(a.text), &shown); err != nil || shown.URL == "" {
			t.Fatalf("invite %s: %s", email, a.text)
		}
		c := w.client()
		c.submit(t, strings.TrimPrefix(shown.URL, w.url), otherPassword).is(t, "accept", http.StatusSeeOther)
		return c
	}
	thief := accept("olga@example.com", "boss@corp.example", "owner")
	w.exec(t, "UPDATE public.members SET role = 'admin' WHERE user_id IN ($1, $2)", w.olga.ID, second.ID)
	w.client().enter(t, f, person("boss", "boss@corp.example"), "/").is(t, "the last owner", http.StatusForbidden)
	w.exec(t, "UPDATE public.members SET role = 'owner' WHERE user_id = $1", second.ID)
	accept("ann@example.com", "cy@corp.example", "member")
	accept("olga@example.com", "di@elsewhere.example", "member")
	proven := accept("olga@example.com", "ed@corp.example", "member")
	// A reset is mailed, or handed over by the operator.
	err := w.db.SetPassword(t.Context(), "ed@corp.example", auth.HashPassword(password))
	if err != nil {
		t.Fatal(err)
	}
	for email, want := range map[string]struct {
		role         string
		organization uuid.UUID
	}{
		"boss@corp.example": {"viewer", w.acme.ID}, "cy@corp.example": {"member", w.acme.ID},
		"di@elsewhere.example": {"member", w.other.ID}, "ed@corp.example": {"member", w.other.ID},
	} {
		c := w.client()
		c.enter(t, f, person(email, email), "/").is(t, email, http.StatusSeeOther)
		if got := c.whoAmI(t); got != email+" "+want.role {
			t.Errorf("%s signed in as %q, want %s", email, got, want.role)
		}
		if got := value[uuid.UUID](t, w, "SELECT organization_id FROM public.members AS m JOIN private.users AS u "+
			"ON u.id = m.user_id WHERE u.email::text = $1", email); got != want.organization {
			t.Errorf("%s is in %s, want %s", email, got, want.organization)
		}
	}
	if got := thief.whoAmI(t) + proven.whoAmI(t); got != "" {
		t.Errorf("sessions of before are of %q", got)
	}
	w.client().signIn(t, "boss@corp.example", otherPassword).is(t, "the inviter's password", http.StatusBadRequest)
}

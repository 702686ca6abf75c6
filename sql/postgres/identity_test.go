package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Two sign in at once for the first time by one email: with two subjects only one of them is the user, with one subject
// both are.
func TestTwoFirstSignInsAtOnce(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	for n := range 20 {
		email := fmt.Sprintf("new%d@corp.example", n)
		if n%4 < 2 {
			if _, err := w.db.AddUser(t.Context(),
				postgres.NewUser{Email: email, OrganizationID: w.own.organization.ID, Role: "viewer"}); err != nil {
				t.Fatal(err)
			}
		}
		type end struct {
			user uuid.UUID
			err  error
		}
		ends := make(chan end)
		for k := range 2 {
			go func() {
				user, err := w.db.SignInByIdentity(t.Context(), postgres.ExternalIdentity{
					Issuer: "https://idp.example", Subject: fmt.Sprint(n, k*(n%2)), Email: email,
					Organization: w.own.organization.Slug,
				})
				ends <- end{user, err}
			}()
		}
		first, second := <-ends, <-ends
		if first.err != nil {
			first, second = second, first
		}
		if n%2 == 0 && (first.err != nil || second.err != nil || first.user != second.user) {
			t.Errorf("with one subject: %+v, %+v", first, second)
		}
		if n%2 == 1 && (first.err != nil || !errors.Is(second.err, postgres.ErrOtherIdentity)) {
			t.Errorf("with two subjects: %+v, %+v", first, second)
		}
	}
}

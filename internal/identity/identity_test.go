package identity_test

import (
	"reflect"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
)

func TestAContextCarriesItsCaller(t *testing.T) {
	caller := identity.Identity{
		UserID: uuid.UUID{1}, OrganizationID: uuid.UUID{2}, Role: "viewer", Scopes: []string{"metrics:read"},
	}
	if got := identity.FromContext(identity.NewContext(t.Context(), caller)); !reflect.DeepEqual(got, caller) {
		t.Errorf("got %+v, want %+v", got, caller)
	}
}

func TestAHandlerWithoutItsMiddlewarePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a context without a caller has one")
		}
	}()
	identity.FromContext(t.Context())
}

func TestARoleMayWhatThoseBelowItMay(t *testing.T) {
	if (identity.Identity{Role: identity.Owner}).AtLeast("root") || (identity.Identity{}).AtLeast("") {
		t.Error("a role that is not known is had")
	}
	for role, want := range map[string][]bool{
		identity.Viewer: {true, false, false, false}, identity.Member: {true, true, false, false},
		identity.Admin: {true, true, true, false},
		identity.Owner: {true, true, true, true}, "": {false, false, false, false},
	} {
		for i, least := range []string{identity.Viewer, identity.Member, identity.Admin, identity.Owner} {
			if got := (identity.Identity{Role: role}).AtLeast(least); got != want[i] {
				t.Errorf("role %q is at least %s: %t", role, least, got)
			}
		}
	}
}

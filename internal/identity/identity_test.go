package identity_test

import (
	"reflect"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/identity"
)

func TestAContextCarriesItsCaller(t *testing.T) {
	caller := identity.Identity{UserID: uuid.UUID{1}, OrganizationID: uuid.UUID{2}, Role: "viewer", Scopes: []string{"metrics:read"}}
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

package auth

import (
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/postgres"
)

// key adds an API key of ann.
func (w *environment) key(t *testing.T, scopes ...string) (text string, kept postgres.Key) {
	t.Helper()
	minted := MintKey()
	kept, err := w.db.AddKey(t.Context(), postgres.NewKey{
		OrganizationID: w.ann.OrganizationID, UserID: w.ann.ID, Name: "test", Hash: minted.Hash, Prefix: minted.Prefix,
		Scopes: scopes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return minted.Text, kept
}

func TestATokenOrAKeyOfTheScope(t *testing.T) {
	t.Parallel()
	w := newEnvironment(t)
	keys := NewKeyResolver(w.db, newLog(w))
	access := w.signIn(t, "ann@example.com").access
	writes, kept := w.key(t, TrackingWrite)
	reads, _ := w.key(t)
	w.url = w.serve(t, func(server *httpd.Server) {
		server.App.Get("/job", w.provider.Tokens().RequireTokenOrKey(keys, TrackingWrite), func(c *fiber.Ctx) error {
			caller := identity.FromContext(c.UserContext())
			return c.JSON(fiber.Map{
				"user": caller.UserID, "organization": caller.OrganizationID, "role": caller.Role, "key": caller.KeyID,
			})
		})
	})
	opens := func(what, credential, key string) {
		t.Helper()
		a := w.with(t, "GET", "/job", credential)
		if a.status != 200 || a.body["user"] != w.ann.ID.String() ||
			a.body["organization"] != w.ann.OrganizationID.String() || a.body["role"] != "admin" ||
			a.body["key"] != key {
			t.Errorf("%s: %d %s", what, a.status, a.text)
		}
	}
	refuses := func(what, credential string, status int, want string) {
		t.Helper()
		if a := w.with(t, "GET", "/job", credential); a.status != status || a.body["error"] != want {
			t.Errorf("%s: %d %s, want %d %s", what, a.status, a.text, status, want)
		}
	}
	opens("a token", access, "00000000-0000-0000-0000-000000000000")
	opens("a key with the scope", writes, kept.ID.String())
	refuses("nothing", "", 401, "missing credential: send Authorization: Bearer and the access_token of a session, "+
		"or an API key with the scope tracking:write")
	refuses("no token", "x.y.z", 401, "invalid access token: it cannot be read")
	refuses("an unknown key", MintKey().Text, 401, "missing or invalid API key; send Authorization: Bearer svc_…")
	refuses("a key without the scope", reads, 403, "the key lacks the scope tracking:write: "+
		"want one that `answerscope key create --scope tracking:write` makes")

	w.exec(t, "UPDATE public.members SET role = 'viewer' WHERE user_id = $1", w.ann.ID)
	refuses("a key of who became a viewer", writes, 403,
		"the scope tracking:write is not for a viewer: want the role member or one above it")
	if err := w.db.RevokeKey(t.Context(), kept.ID); err != nil {
		t.Fatal(err)
	}
	refuses("a revoked key", writes, 401, "missing or invalid API key; send Authorization: Bearer svc_…")
}

package postgres_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit/wait"
	"github.com/answerscope/answerscope/sql/postgres"
)

// signedIn is a user with a session, whose refresh token has the hash {n}.
func signedIn(t *testing.T, db *postgres.DB, user postgres.User, n byte) uuid.UUID {
	t.Helper()
	session, err := db.OpenSession(t.Context(), user.ID, [32]byte{n})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func member(t *testing.T, db *postgres.DB, o postgres.Organization, email string) postgres.User {
	t.Helper()
	user, err := db.AddUser(t.Context(), postgres.NewUser{
		Email: email, PasswordHash: "hash", OrganizationID: o.ID, Role: "member",
	})
	if err != nil {
		t.Fatal(err)
	}
	return user
}

func lasts(t *testing.T, db *postgres.DB, user, session uuid.UUID) bool {
	t.Helper()
	a, err := db.Account(t.Context(), user, session)
	if err != nil {
		t.Fatal(err)
	}
	return a.SignedIn
}

func TestARefreshTokenWorksOnce(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	ann := member(t, db, organization(t, db, "House"), "ann@example.com")
	session, other := signedIn(t, db, ann, 1), signedIn(t, db, ann, 50)
	for n := range byte(3) {
		user, refreshed, err := db.RefreshSession(t.Context(), [32]byte{1 + n}, [32]byte{2 + n})
		if err != nil || user != ann.ID || refreshed != session {
			t.Fatalf("refresh %d: %s %s, %v", n, user, refreshed, err)
		}
	}
	if !lasts(t, db, ann.ID, session) {
		t.Fatal("the session has ended")
	}
	if _, _, err := db.RefreshSession(t.Context(), [32]byte{2}, [32]byte{90}); !errors.Is(err, postgres.ErrTokenUsed) {
		t.Errorf("an old one: %v", err)
	}
	if lasts(t, db, ann.ID, session) || !lasts(t, db, ann.ID, other) {
		t.Error("reuse ends the session, and no other one")
	}
	for _, n := range []byte{1, 4, 90} {
		if _, _, err := db.RefreshSession(t.Context(), [32]byte{n},
			[32]byte{91}); !errors.Is(err, postgres.ErrNotFound) {
			t.Errorf("token %d of an ended session: %v", n, err)
		}
	}
	if _, err := db.Exec(t.Context(),
		"UPDATE private.refresh_tokens SET created_at = now() - INTERVAL '30 days 1 second'"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := db.RefreshSession(t.Context(), [32]byte{50}, [32]byte{51}); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("a token of 30 days ago: %v", err)
	}
}

// Two pages of a browser refresh with the same token at once: one gets the next, the other is refused, and the session
// goes on. Both have begun before either has used it: a lock holds them.
func TestOfTwoRefreshesThatOverlapOneWins(t *testing.T) {
	t.Parallel()
	db, dsn := migrated(t)
	root := connected(t, dsn)
	ann := member(t, db, organization(t, db, "House"), "ann@example.com")
	session := signedIn(t, db, ann, 1)
	tx, err := db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), "SELECT FROM private.refresh_tokens FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	var errs [2]error
	var both sync.WaitGroup
	for i := range errs {
		both.Go(func() { _, _, errs[i] = db.RefreshSession(t.Context(), [32]byte{1}, [32]byte{2 + byte(i)}) })
	}
	wait.For(t, "both wait for the lock", func() bool {
		var n int
		err := root.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "+
			"AND wait_event_type = 'Lock'").Scan(&n)
		return err == nil && n == 2
	})
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	winner := 0
	if errs[0] != nil {
		winner = 1
	}
	if errs[winner] != nil || !errors.Is(errs[1-winner], postgres.ErrTokenUsed) {
		t.Fatalf("errors %v", errs)
	}
	if _, _, err := db.RefreshSession(t.Context(), [32]byte{2 + byte(winner)}, [32]byte{9}); err != nil ||
		!lasts(t, db, ann.ID, session) {
		t.Errorf("the winner's token: %v", err)
	}
}

func TestSessionsEndAsTheirScopeSays(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	ann, bob := member(t, db, o, "ann@example.com"), member(t, db, o, "bob@example.com")
	n := byte(0)
	for scope, want := range map[string][2]bool{
		postgres.AllSessions: {false, false}, postgres.ThisSession: {false, true},
		postgres.OtherSessions: {true, false}, "": {true, true},
	} {
		n += 3
		this, that, his := signedIn(t, db, ann, n), signedIn(t, db, ann, n+1), signedIn(t, db, bob, n+2)
		if err := db.EndSessions(t.Context(), ann.ID, this, scope); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{lasts(t, db, ann.ID, this), lasts(t, db, ann.ID, that)}; got != want ||
			!lasts(t, db, bob.ID, his) {
			t.Errorf("scope %q leaves %v, want %v and another user's", scope, got, want)
		}
		if lasts(t, db, ann.ID, his) {
			t.Error("another's session is hers")
		}
	}
}

// What is disabled, removed or given a new password is out, and stays out when it is enabled again.
func TestAUserIsOutAtOnce(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o := organization(t, db, "House")
	ann := member(t, db, o, "Ann@example.com")
	if err := db.SetPassword(t.Context(), "ann@example.com", "another"); err != nil {
		t.Fatal(err)
	}
	if user, err := db.UserByEmail(t.Context(), ann.Email); err != nil || user.PasswordHash != "another" {
		t.Errorf("%+v, %v", user, err)
	}
	session := signedIn(t, db, ann, 1)
	if err := db.SetPassword(t.Context(), "ann@example.com", "third"); err != nil || lasts(t, db, ann.ID, session) {
		t.Errorf("a new password: %v, or the session goes on", err)
	}
	other := signedIn(t, db, ann, 40)
	session = signedIn(t, db, ann, 2)
	if err := db.ChangePassword(t.Context(), "ann@example.com", "fourth", session); err != nil ||
		!lasts(t, db, ann.ID, session) || lasts(t, db, ann.ID, other) {
		t.Errorf("a password that she changed: %v, or her session has ended, or another goes on", err)
	}
	if err := db.SetUserActive(t.Context(), "ann@example.com", false); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Account(t.Context(), ann.ID, session); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("disabled: %v", err)
	}
	if _, err := db.OpenSession(t.Context(), ann.ID, [32]byte{3}); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("disabled, and signs in: %v", err)
	}
	if err := db.SetUserActive(t.Context(), "ann@example.com", true); err != nil || lasts(t, db, ann.ID, session) {
		t.Errorf("enabled: %v, or the old session is back", err)
	}
	session = signedIn(t, db, ann, 4)
	if err := db.SetUserActive(t.Context(), "ann@example.com", true); err != nil || !lasts(t, db, ann.ID, session) {
		t.Errorf("enabled twice: %v, or the session has ended", err)
	}
	if _, err := db.Exec(t.Context(), "DELETE FROM public.members WHERE user_id = $1", ann.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Account(t.Context(), ann.ID, session); !errors.Is(err, postgres.ErrNotFound) {
		t.Errorf("removed from the organization: %v", err)
	}
	if _, err := db.Exec(t.Context(), "INSERT INTO public.members (organization_id, user_id) VALUES ($1, $2)",
		ann.OrganizationID, ann.ID); err != nil || lasts(t, db, ann.ID, session) {
		t.Errorf("back in the organization: %v, or the old session is back", err)
	}
	for _, err := range []error{
		db.SetUserActive(t.Context(), "nobody@example.com", false),
		db.SetPassword(t.Context(), "nobody@example.com", "x"),
	} {
		if !errors.Is(err, postgres.ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
	}
}

func TestEndedSessionsAreForgotten(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	ann := member(t, db, organization(t, db, "House"), "ann@example.com")
	old := signedIn(t, db, ann, 1)
	session := signedIn(t, db, ann, 2)
	if _, _, err := db.RefreshSession(t.Context(), [32]byte{2}, [32]byte{3}); err != nil {
		t.Fatal(err)
	}
	for _, age := range []string{
		"UPDATE private.sessions SET refreshed_at = now() - INTERVAL '31 days' WHERE id = $1",
		"UPDATE private.refresh_tokens SET created_at = now() - INTERVAL '31 days' WHERE session_id <> $1 AND " +
			"used_at IS NOT NULL",
	} {
		if _, err := db.Exec(t.Context(), age, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := db.RefreshSession(t.Context(), [32]byte{3}, [32]byte{4}); err != nil {
		t.Fatal(err)
	}
	signedIn(t, db, ann, 5)
	var sessions, tokens int
	if err := db.QueryRow(t.Context(),
		"SELECT (SELECT count(*) FROM private.sessions), (SELECT count(*) FROM private.refresh_tokens)").Scan(&sessions,
		&tokens); err != nil {
		t.Fatal(err)
	}
	if sessions != 2 || tokens != 3 || !lasts(t, db, ann.ID, session) {
		t.Errorf("%d sessions and %d tokens are left, want 2 and 3", sessions, tokens)
	}
}

func TestSigningKeysAreKeptWhileTheyVerify(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	key := func() postgres.SigningKey {
		return postgres.SigningKey{ID: uuid.Must(uuid.NewV4()), Public: []byte{1}, Private: "k1:AAAA"}
	}
	first, second, third := key(), key(), key()
	for i, k := range []postgres.SigningKey{first, second, third} {
		if err := db.AddSigningKey(t.Context(), k, 48*time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(t.Context(),
			"UPDATE private.signing_keys SET created_at = created_at - INTERVAL '30 hours' WHERE $1 < 2",
			i); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := db.SigningKeys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].ID != third.ID || keys[1].ID != second.ID ||
		keys[1].Private != second.Private || len(keys[1].Public) != 1 {
		t.Errorf("%+v, %v", keys, err)
	}
}

// The signing key of the anon key is kept. If it is deleted, another anon key is made, and clients may still have the
// old one.
func TestTheAnonKeyHasItsSigningKey(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	signingKey := func() uuid.UUID { // those before it are old
		k := postgres.SigningKey{ID: uuid.Must(uuid.NewV4()), Public: []byte{1}, Private: "k1:AAAA"}
		if err := db.AddSigningKey(t.Context(), k, 0); err != nil {
			t.Fatal(err)
		}
		return k.ID
	}
	keys := []string{"first", "second", "third"}
	for i, key := range keys {
		signing := signingKey()
		for range 2 {
			got, err := db.AnonKey(t.Context(), func(context.Context) (string, uuid.UUID, error) {
				return key, signing, nil
			})
			if err != nil || got.Key != key || !got.Verifies || !slices.Equal(got.Earlier, keys[:i]) {
				t.Errorf("%+v, %v, want %s after %v", got, err, key, keys[:i])
			}
			signingKey()
		}
		if _, err := db.Exec(t.Context(), "DELETE FROM private.signing_keys WHERE id = $1", signing); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUsersAreListedByEmail(t *testing.T) {
	t.Parallel()
	db, _ := migrated(t)
	o, other := organization(t, db, "House"), organization(t, db, "Other")
	member(t, db, o, "bob@example.com")
	member(t, db, other, "cay@example.com")
	id := uuid.Must(uuid.NewV4())
	ann, err := db.AddUser(t.Context(), postgres.NewUser{
		ID: id, Email: "Ann@example.com", OrganizationID: o.ID, Role: "owner",
	})
	if err != nil || ann.ID != id {
		t.Fatalf("%+v, %v", ann, err)
	}
	if _, err := db.AddUser(t.Context(),
		postgres.NewUser{ID: id, Email: "ann2@example.com", OrganizationID: o.ID,
			Role: "owner"}); !errors.Is(err, postgres.ErrConflict{What: "id"}) {
		t.Errorf("an id twice: %v", err)
	}
	signedIn(t, db, ann, 1)
	list, err := db.ListUsers(t.Context(), o.ID)
	if err != nil || len(list) != 2 || list[0].ID != id || list[0].Role != "owner" || list[0].LastSignInAt == nil ||
		list[1].Email != "bob@example.com" || list[1].LastSignInAt != nil || !list[1].IsActive {
		t.Errorf("%+v, %v", list, err)
	}
}

package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	authMethod   = "none" // of clients, which are public
	maxRedirects = 10
	maxName      = 60   // characters of an app's name, which the page for consent shows among words of ours
	maxAddress   = 2048 // bytes of a redirect URI, or of a document's address

	documentLife = time.Hour
	maxDocuments = 1000 // in memory
)

var (
	responseTypes = []string{"code"}
	grantTypes    = []string{"authorization_code", "refresh_token"}

	errNoClient = problem.New(problem.Missing,
		"This app is not known here, or not any more. Remove the connection in the app, and add it again.")
)

// metadata describes an app, in a registration or in its document. Other fields are ignored.
type metadata struct {
	ID           string   `json:"client_id"`
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	AuthMethod   string   `json:"token_endpoint_auth_method"`
}

// check returns the first mistake, and sets a missing name.
func (m *metadata) check() error {
	if n := len(m.RedirectURIs); n == 0 || n > maxRedirects {
		return &failure{"invalid_redirect_uri", "redirect_uris: want 1 to 10"}
	}
	for _, uri := range m.RedirectURIs {
		if !isRedirect(uri) {
			return &failure{"invalid_redirect_uri",
				"redirect_uris: want https, http to this machine (localhost, 127.0.0.1, ::1) or a scheme of an app"}
		}
	}
	if m.Name == "" {
		m.Name = hostOf(m.RedirectURIs[0])
	}
	if !postgres.IsName(m.Name) || utf8.RuneCountInString(m.Name) > maxName || strings.ContainsAny(m.Name, "\"“”„«»") {
		return &failure{"invalid_client_metadata",
			"client_name: want at most 60 characters without control characters and quotation marks"}
	}
	return nil
}

// A document is a metadata document in memory.
type document struct {
	client  postgres.OAuthClient
	expires time.Time
}

// register stores an app that describes itself. Each is public, so another token_endpoint_auth_method is replaced, as
// RFC 7591 §3.2.1 allows: claude.ai asks for client_secret_post.
func (i *Issuer) register(c *fiber.Ctx) error {
	if err := i.attempts.Take(c, i.provider.Client(c), time.Now()); err != nil {
		return err
	}
	var m metadata
	if json.Unmarshal(c.BodyRaw(), &m) != nil {
		return &failure{"invalid_client_metadata", `the body is no JSON object: want {"redirect_uris": […]}`}
	}
	if err := m.check(); err != nil {
		return err
	}
	id, err := i.db.AddOAuthClient(c.UserContext(), m.Name, m.RedirectURIs)
	if err != nil {
		return err
	}
	return c.Status(http.StatusCreated).JSON(fiber.Map{
		"client_id": id, "client_id_issued_at": time.Now().Unix(), "client_name": m.Name,
		"redirect_uris": m.RedirectURIs, "token_endpoint_auth_method": authMethod, "grant_types": grantTypes,
		"response_types": responseTypes,
	})
}

// client finds an app by its id; one that is not known is a problem of kind Missing.
func (i *Issuer) client(ctx context.Context, id string) (postgres.OAuthClient, error) {
	if strings.HasPrefix(id, "https://") {
		return i.documented(ctx, id)
	}
	client, err := i.db.OAuthClient(ctx, uuid.FromStringOrNil(id)) // no client has the nil UUID
	if errors.Is(err, postgres.ErrNotFound) {
		err = errNoClient
	}
	return client, err
}

// documented finds an app by its metadata document (draft-ietf-oauth-client-id-metadata-document), which is fetched
// once an hour. Only signed-in users make it fetch.
func (i *Issuer) documented(ctx context.Context, address string) (client postgres.OAuthClient, err error) {
	i.mu.Lock()
	cached := i.documents[address]
	i.mu.Unlock()
	if time.Now().Before(cached.expires) {
		return cached.client, nil
	}
	if !isDocumentAddress(address) {
		return client, errNoClient
	}
	text, err := i.fetch(ctx, address)
	if err != nil {
		return client, err
	}
	var m metadata
	if json.Unmarshal(text, &m) != nil || m.ID != address || m.AuthMethod != "" && m.AuthMethod != authMethod ||
		m.check() != nil {
		return client, problem.New(problem.Unprocessable, "%.300s does not describe this app: want its own address as "+
			"client_id, its redirect_uris, and no other token_endpoint_auth_method than none", address)
	}
	client = postgres.OAuthClient{ID: address, Name: m.Name, RedirectURIs: m.RedirectURIs}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.documents) >= maxDocuments {
		clear(i.documents)
	}
	i.documents[address] = document{client, time.Now().Add(documentLife)}
	return client, nil
}

func isDocumentAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= maxAddress && u.Host != "" && u.User == nil && !strings.Contains(text, "#") &&
		u.Path != "" && u.Path != "/" && path.Clean(u.Path) == u.Path
}

// unsafeSchemes are schemes that browsers or their systems act upon by themselves; others belong to installed apps.
var unsafeSchemes = strings.Fields("about blob chrome data file filesystem ftp javascript mailto ms-settings " +
	"search-ms tel vbscript view-source ws wss")

// isRedirect reports whether browsers may be sent to an address with a code: https, this machine, or an app.
func isRedirect(text string) bool {
	u, err := url.Parse(text)
	isForeign := func(r rune) bool { return r >= utf8.RuneSelf } // letters look like others: hosts are in punycode
	if err != nil || len(text) > maxAddress || u.User != nil || strings.Contains(text, "#") ||
		strings.ContainsFunc(text+u.Hostname(), isForeign) {
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Hostname() != ""
	case "http":
		return config.IsLoopback(u.Hostname())
	}
	return u.Scheme != "" && u.Opaque == "" && !slices.Contains(unsafeSchemes, u.Scheme)
}

// permits reports whether an app's redirect URIs have one. A port of this machine is chosen anew for each attempt, so
// it may be another one (RFC 8252 §7.3).
func permits(client postgres.OAuthClient, uri string) bool {
	return isRedirect(uri) && slices.ContainsFunc(client.RedirectURIs, func(registered string) bool {
		return portless(registered) == portless(uri)
	})
}

// portless returns an address of this machine without its port, and any other as it is.
func portless(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "http" || !config.IsLoopback(u.Hostname()) {
		return uri
	}
	u.Host = u.Hostname()
	return u.String()
}

// hostOf returns where an address leads, as people read it.
func hostOf(uri string) string {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return ""
	case u.Scheme == "https":
		return u.Host
	}
	return u.Scheme + "://" + u.Host + " on this computer"
}

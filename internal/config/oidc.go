package config

import (
	"net/url"
	"slices"
	"strings"
)

// An OIDC is an OpenID provider by which users of the built-in identity provider sign in to the dashboard.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret Secret
	Label        string // on the button; "": the issuer's host
	Domains      string // separated by commas: their addresses need no invitation
	Organization string // slug of the organization for users of Domains
	TrustEmail   string // "true" takes addresses that the provider does not call verified
}

// IsSet reports whether there is one.
func (o OIDC) IsSet() bool { return o.Issuer != "" }

// Name returns the name of the provider on the button.
func (o OIDC) Name() string {
	if issuer, err := url.Parse(o.Issuer); err == nil && o.Label == "" {
		return issuer.Host
	}
	return o.Label
}

// Admits reports whether an address belongs to one of Domains: exactly, after its last @, in any case.
func (o OIDC) Admits(address string) bool {
	domain := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
	return slices.ContainsFunc(strings.Split(o.Domains, ","), func(allowed string) bool {
		return domain != "" && domain == strings.ToLower(strings.TrimSpace(allowed))
	})
}

func (o OIDC) validate(m *mistakes, publicURL string, tokens Issuer) {
	if !o.IsSet() {
		others := o.ClientID + o.ClientSecret.Reveal() + o.Label + o.Domains + o.Organization + o.TrustEmail
		m.want(others == "", "OIDC_ISSUER", "",
			"the issuer of the OpenID provider that the other "+Prefix+"OIDC_ variables are for")
		return
	}
	m.want(IsSecure(o.Issuer), "OIDC_ISSUER", NewDSN(o.Issuer).Masked(), "https://…, or http://… on this machine")
	m.want(!tokens.IsSet(), "OIDC_ISSUER", o.Issuer, "either it or "+Prefix+"ISSUER: with access tokens of another "+
		"issuer the dashboard, into which it signs in, is not served")
	m.want(o.ClientID != "", "OIDC_CLIENT_ID", "", "the id under which the provider knows this installation")
	m.want(o.ClientSecret.IsSet(), "OIDC_CLIENT_SECRET", "", "the secret that the provider gave for that id")
	m.want(IsSecure(publicURL), "PUBLIC_URL", NewDSN(publicURL).Masked(), "https://…, or http://… on this machine, to "+
		"which the provider sends users back: PUBLIC_URL/signin/oidc/callback")
	m.want((o.Domains == "") == (o.Organization == ""), "OIDC_ORGANIZATION", o.Organization,
		"the slug of an organization together with "+Prefix+"OIDC_ALLOWED_DOMAINS, or neither")
	m.want(slices.Contains([]string{"", "true", "false"}, o.TrustEmail), "OIDC_TRUST_EMAIL", o.TrustEmail,
		"true or false")
}

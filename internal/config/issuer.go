package config

import (
	"fmt"

	"github.com/answerscope/answerscope/internal/secret"
)

// An Issuer is an identity provider that runs elsewhere; none is the built-in one.
type Issuer struct {
	Name     string // iss of its tokens
	JWKS     DSN    // where it publishes its keys, or
	Secret   Secret // what it shares with us
	Audience string // aud of its tokens; "": authenticated
}

func issuer(env map[string]string) Issuer {
	return Issuer{
		Name: env[Prefix+"ISSUER"], JWKS: NewDSN(env[Prefix+"JWKS_URL"]),
		Secret: NewSecret(env[Prefix+"JWT_SECRET"]), Audience: env[Prefix+"JWT_AUDIENCE"],
	}
}

// IsSet reports whether there is one.
func (i Issuer) IsSet() bool { return i.Name != "" }

func (i Issuer) variables() []Variable {
	return []Variable{
		{Prefix + "ISSUER", i.Name},
		{Prefix + "JWKS_URL", i.JWKS.Masked()},
		{Prefix + "JWT_SECRET", i.Secret.Masked()},
		{Prefix + "JWT_AUDIENCE", i.Audience},
	}
}

// leastSecret is the fewest bytes of a secret of HS256 (RFC 7518 §3.2).
const leastSecret = 32

func (i Issuer) validate(m *mistakes) {
	keyed := i.JWKS.IsSet() || i.Secret.IsSet()
	m.want(i.IsSet() || !keyed && i.Audience == "", "ISSUER", i.Name, "the iss of the issuer whose tokens "+Prefix+"JWKS_URL or "+Prefix+"JWT_SECRET verifies")
	m.want(!i.IsSet() || i.JWKS.IsSet() != i.Secret.IsSet(), "ISSUER", i.Name, "either "+Prefix+"JWKS_URL or "+Prefix+"JWT_SECRET with it")
	m.want(!i.JWKS.IsSet() || isWeb(i.JWKS.Reveal()), "JWKS_URL", i.JWKS.Masked(), "https://…/.well-known/jwks.json")
	m.want(!i.Secret.IsSet() || len(i.Secret.Reveal()) >= leastSecret, "JWT_SECRET", i.Secret.Masked(), "at least 32 bytes")
}

// validateRing checks the keys of what is encrypted.
func (o Outside) validateRing(m *mistakes) {
	if !o.SecretKeys.IsSet() {
		return
	}
	if _, err := secret.ParseRing(o.SecretKeys.Reveal()); err != nil {
		m.add(fmt.Errorf("%sSECRET_KEYS is %q: %w", Prefix, o.SecretKeys.Masked(), err))
	}
}

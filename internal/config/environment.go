package config

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/internal/secret"
)

// Outside has the settings that come from the environment alone: addresses of outside engines, and secrets.
type Outside struct {
	ClickHouse    DSN    // clickhouse:// or http(s)://; none starts the embedded engine
	Shards        Shards // in its place, the servers of a cluster
	Postgres      DSN    // postgres://; none starts the embedded engine
	Gateway       DSN    // of that PostgreSQL, with the login authenticator, as which /rest/v1 asks
	KafkaUsername string // of SASL
	KafkaPassword Secret
	RESTSecret    Secret // verifies the tokens of a database that is served alone
	AnonKey       Secret // the public key that clients of /rest/v1 send
	Key           Secret // the API key with which a command asks another installation
	CronSecret    Secret // proves that /cron/* is called by the scheduler
	Issuer        Issuer
	Mail          Mail
	OIDC          OIDC
	SecretKeys    Secret // id:base64[,…]: encrypts secrets in the database; none makes a file in the data directory
	Traces        Collector
	Platforms     []Platform
}

// A Platform is how one AI platform is reached.
type Platform struct {
	Name    string // as in its variables: OPENAI of ANSWERSCOPE_PLATFORM_OPENAI_API_KEY
	APIKey  Secret
	BaseURL string   // another address for it: a proxy, a gateway, a recorded answer
	Models  []string // in place of those that it declares, the default first; none: those
	limits  string

	// Of a consumer surface: the capture providers that are asked, the first one first; none: those with a key.
	Providers []string
	// Of a capture provider: the zone of its SERP API, the price of a credit in US dollars, and the secret that signs
	// its callbacks.
	Zone          string
	CreditUSD     string
	WebhookSecret Secret
}

// Limits returns the limits of the account of the key, which Validate has checked.
func (p Platform) Limits() AccountLimits {
	limits, _ := parseAccountLimits(p.limits)
	return limits
}

// Platform returns the settings of the AI platform of that slug.
func (o Outside) Platform(slug string) Platform {
	name := strings.ToUpper(strings.ReplaceAll(slug, "-", "_"))
	if i := slices.IndexFunc(o.Platforms, func(p Platform) bool { return p.Name == name }); i >= 0 {
		return o.Platforms[i]
	}
	return Platform{Name: name}
}

// Variable is the name of one of its variables: KeyVariable, BaseURLVariable, ModelsVariable or LimitsVariable.
func (p Platform) Variable(which string) string { return Prefix + "PLATFORM_" + p.Name + "_" + which }

// What the names of a platform's variables end with.
const (
	KeyVariable     = "API_KEY"
	BaseURLVariable = "BASE_URL"
	ModelsVariable  = "MODELS"
	LimitsVariable  = "LIMITS"

	ProvidersVariable     = "PROVIDERS"
	ZoneVariable          = "ZONE"
	CreditVariable        = "CREDIT_USD"
	WebhookSecretVariable = "WEBHOOK_SECRET"
)

// A Variable is one name in the environment that is no flag, with what may be shown of its value.
type Variable struct {
	Name   string
	Masked string
}

// A field holds the value of a variable.
type field interface {
	set(value string)
	Masked() string
}

type text string

func (t *text) set(value string) { *t = text(value) }
func (t *text) Masked() string   { return string(*t) }

// namedField is a field with the name of its variable.
type namedField struct {
	name  string
	field field
}

// fields names every variable of o except the platforms' variables.
func (o *Outside) fields() []namedField {
	return []namedField{
		{Prefix + "CLICKHOUSE_DSN", &o.ClickHouse},
		{Prefix + "CLICKHOUSE_SHARDS", &o.Shards},
		{Prefix + "POSTGRES_DSN", &o.Postgres},
		{Prefix + "POSTGRES_GATEWAY_DSN", &o.Gateway},
		{Prefix + "KAFKA_USERNAME", (*text)(&o.KafkaUsername)},
		{Prefix + "KAFKA_PASSWORD", &o.KafkaPassword},
		{Prefix + "REST_JWT_SECRET", &o.RESTSecret},
		{Prefix + "SECRET_KEYS", &o.SecretKeys},
		{Prefix + "ANON_KEY", &o.AnonKey},
		{Prefix + "KEY", &o.Key},
		{"CRON_SECRET", &o.CronSecret},
		{Prefix + "ISSUER", (*text)(&o.Issuer.Name)},
		{Prefix + "JWKS_URL", &o.Issuer.JWKS},
		{Prefix + "JWT_SECRET", &o.Issuer.Secret},
		{Prefix + "JWT_AUDIENCE", (*text)(&o.Issuer.Audience)},
		{Prefix + "SMTP_URL", &o.Mail.URL},
		{Prefix + "MAIL_FROM", (*text)(&o.Mail.From)},
		{Prefix + "OIDC_ISSUER", (*text)(&o.OIDC.Issuer)},
		{Prefix + "OIDC_CLIENT_ID", (*text)(&o.OIDC.ClientID)},
		{Prefix + "OIDC_CLIENT_SECRET", &o.OIDC.ClientSecret},
		{Prefix + "OIDC_NAME", (*text)(&o.OIDC.Label)},
		{Prefix + "OIDC_ALLOWED_DOMAINS", (*text)(&o.OIDC.Domains)},
		{Prefix + "OIDC_ORGANIZATION", (*text)(&o.OIDC.Organization)},
		{Prefix + "OIDC_TRUST_EMAIL", (*text)(&o.OIDC.TrustEmail)},
		{Prefix + "OTLP_ENDPOINT", &o.Traces.Own},
		{otelTracesEndpoint, &o.Traces.Traces},
		{otelEndpoint, &o.Traces.Base},
		{otelHeaders, &o.Traces.Headers},
		{otelTracesHeaders, &o.Traces.TracesHeaders},
		{otelDisabled, &o.Traces.Disabled},
	}
}

// FromEnvironment reads environ, whose entries are NAME=value.
func FromEnvironment(environ []string) Outside {
	env := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	o := Outside{Platforms: platforms(env)}
	for _, f := range o.fields() {
		f.field.set(env[f.name])
	}
	return o
}

// Variables lists every variable of Outside, set or not; platforms only as far as one of their variables is set.
func (o Outside) Variables() []Variable {
	var list []Variable
	for _, f := range o.fields() {
		list = append(list, Variable{f.name, f.field.Masked()})
	}
	for _, p := range o.Platforms {
		list = append(list, Variable{p.Variable(KeyVariable), p.APIKey.Masked()},
			Variable{p.Variable(BaseURLVariable), NewDSN(p.BaseURL).Masked()},
			Variable{p.Variable(ModelsVariable), strings.Join(p.Models, ",")},
			Variable{p.Variable(LimitsVariable), p.limits})
		for _, v := range []Variable{
			{ProvidersVariable, strings.Join(p.Providers, ",")}, {ZoneVariable, p.Zone}, {CreditVariable, p.CreditUSD},
			{WebhookSecretVariable, p.WebhookSecret.Masked()},
		} {
			if v.Masked != "" { // few platforms have it
				list = append(list, Variable{p.Variable(v.Name), v.Masked})
			}
		}
	}
	return list
}

var platformVariable = regexp.MustCompile(`^` + Prefix + `PLATFORM_([A-Z0-9_]+?)_` +
	`(API_KEY|BASE_URL|MODELS|LIMITS|PROVIDERS|ZONE|CREDIT_USD|WEBHOOK_SECRET)$`)

var creditPrice = regexp.MustCompile(`^\d{1,3}(\.\d{1,9})?$`)

func platforms(env map[string]string) []Platform {
	var list []Platform
	for name, value := range env {
		m := platformVariable.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		i := slices.IndexFunc(list, func(p Platform) bool { return p.Name == m[1] })
		if i < 0 {
			i = len(list)
			list = append(list, Platform{Name: m[1]})
		}
		switch m[2] {
		case KeyVariable:
			list[i].APIKey = NewSecret(strings.TrimSpace(value))
		case BaseURLVariable:
			list[i].BaseURL = strings.TrimSpace(value)
		case LimitsVariable:
			list[i].limits = strings.TrimSpace(value)
		case ModelsVariable:
			list[i].Models = words(value)
		case ProvidersVariable:
			list[i].Providers = words(value)
		case ZoneVariable:
			list[i].Zone = strings.TrimSpace(value)
		case CreditVariable:
			list[i].CreditUSD = strings.TrimSpace(value)
		case WebhookSecretVariable:
			list[i].WebhookSecret = NewSecret(value)
		}
	}
	slices.SortFunc(list, func(a, b Platform) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// words returns the parts of a list that is separated by commas.
func words(value string) (list []string) {
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

func (o Outside) validate(m *mistakes) {
	m.address("CLICKHOUSE_DSN", o.ClickHouse, "clickhouse", "http", "https")
	if o.Shards.IsSet() {
		for _, replica := range o.Shards.servers() {
			m.want(replica.IsSet(), "CLICKHOUSE_SHARDS", o.Shards.Masked(), "an address on both sides of every ; and ,")
			m.address("CLICKHOUSE_SHARDS", replica, "clickhouse", "http", "https")
		}
	}
	m.postgres("POSTGRES_DSN", o.Postgres)
	m.postgres("POSTGRES_GATEWAY_DSN", o.Gateway)
	o.Issuer.validate(m)
	o.validateRing(m)
	o.Traces.validate(m)
	m.want(!o.ClickHouse.IsSet() || !o.Shards.IsSet(), "CLICKHOUSE_SHARDS", o.Shards.Masked(),
		"either it or "+Prefix+"CLICKHOUSE_DSN")
	for _, p := range o.Platforms {
		m.want(p.BaseURL == "" || IsWeb(p.BaseURL), "PLATFORM_"+p.Name+"_"+BaseURLVariable, NewDSN(p.BaseURL).Masked(),
			"http://… or https://…")
		if _, err := parseAccountLimits(p.limits); err != nil {
			m.add(fmt.Errorf("%s is %.100q: %w", p.Variable(LimitsVariable), p.limits, err))
		}
		m.want(p.CreditUSD == "" || creditPrice.MatchString(p.CreditUSD), "PLATFORM_"+p.Name+"_"+CreditVariable,
			p.CreditUSD, "the price of a credit in US dollars, such as 0.0005")
	}
}

// address checks the form of a DSN that is set; whether its server answers is found when it is connected to.
func (m *mistakes) address(name string, dsn DSN, schemes ...string) {
	parsed, err := url.Parse(dsn.Reveal())
	right := err == nil && slices.Contains(schemes, parsed.Scheme) && parsed.Host != ""
	m.want(!dsn.IsSet() || right, name, dsn.Masked(),
		strings.Join(schemes, ":// or ")+"://USER:PASSWORD@HOST:PORT/DATABASE")
}

// postgres also refuses a list of hosts that leaves open which of them is connected to: a standby takes no writes.
func (m *mistakes) postgres(name string, dsn DSN) {
	m.address(name, dsn, "postgres", "postgresql")
	parsed, err := url.Parse(dsn.Reveal())
	if err != nil || !strings.Contains(parsed.Host, ",") {
		return
	}
	wanted := parsed.Query().Get("target_session_attrs")
	m.want(wanted == "read-write" || wanted == "primary", name, dsn.Masked(),
		"target_session_attrs=read-write with several hosts, for the one that takes writes")
}

// HasWarehouse reports whether ClickHouse runs elsewhere: on one server or on a cluster.
func (o Outside) HasWarehouse() bool { return o.ClickHouse.IsSet() || o.Shards.IsSet() }

// Unknown returns the names of environ that begin with Prefix but are not settings, each with the nearest
// name of a setting: a misspelt variable would otherwise be ignored silently.
func Unknown(environ, settings []string) []error {
	var errs []error
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, Prefix) || slices.Contains(settings, name) || platformVariable.MatchString(name) {
			continue
		}
		errs = append(errs, fmt.Errorf("%s names no setting: did you mean %s?", name,
			problem.Nearest(name, settings, math.MaxInt)[0]))
	}
	return errs
}

// An Issuer is an identity provider that runs elsewhere; none is the built-in one.
type Issuer struct {
	Name     string // iss of its tokens
	JWKS     DSN    // where it publishes its keys, or
	Secret   Secret // what it shares with us
	Audience string // aud of its tokens; "": authenticated
}

// IsSet reports whether there is one.
func (i Issuer) IsSet() bool { return i.Name != "" }

// minSecretBytes is the shortest secret of HS256 (RFC 7518 §3.2).
const minSecretBytes = 32

func (i Issuer) validate(m *mistakes) {
	keyed := i.JWKS.IsSet() || i.Secret.IsSet()
	m.want(i.IsSet() || !keyed && i.Audience == "", "ISSUER", i.Name,
		"the iss of the issuer whose tokens "+Prefix+"JWKS_URL or "+Prefix+"JWT_SECRET verifies")
	m.want(!i.IsSet() || i.JWKS.IsSet() != i.Secret.IsSet(), "ISSUER", i.Name,
		"either "+Prefix+"JWKS_URL or "+Prefix+"JWT_SECRET with it")
	m.want(!i.JWKS.IsSet() || IsWeb(i.JWKS.Reveal()), "JWKS_URL", i.JWKS.Masked(), "https://…/.well-known/jwks.json")
	m.want(!i.Secret.IsSet() || len(i.Secret.Reveal()) >= minSecretBytes, "JWT_SECRET", i.Secret.Masked(),
		"at least 32 bytes")
}

// validateRing checks the keys of encrypted secrets.
func (o Outside) validateRing(m *mistakes) {
	if !o.SecretKeys.IsSet() {
		return
	}
	if _, err := secret.ParseRing(o.SecretKeys.Reveal()); err != nil {
		m.add(fmt.Errorf("%sSECRET_KEYS is %q: %w", Prefix, o.SecretKeys.Masked(), err))
	}
}

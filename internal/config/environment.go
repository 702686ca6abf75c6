package config

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/nearest"
)

// Outside is what comes from the environment alone: how engines that run elsewhere are entered, and secrets.
type Outside struct {
	ClickHouse    DSN    // clickhouse:// or http(s)://; none starts the embedded engine
	Shards        Shards // in its place, the servers of a cluster
	Postgres      DSN    // postgres://; none starts the embedded engine
	Gateway       DSN    // of that PostgreSQL, with the login authenticator, as which /rest/v1 asks
	KafkaUsername string // of SASL
	KafkaPassword Secret
	RESTSecret    Secret // verifies the tokens of a database that is served alone
	AnonKey       Secret // the public key that clients of /rest/v1 send
	CronSecret    Secret // proves that /cron/* is called by the scheduler
	Issuer        Issuer
	SecretKeys    Secret // id:base64[,…]: what encrypts secrets in the database; none makes a file in the data directory
	Traces        Collector
	Platforms     []Platform
}

// A Platform is how one AI platform is reached.
type Platform struct {
	Name    string // as in its variables: OPENAI of ANSWERSCOPE_PLATFORM_OPENAI_API_KEY
	APIKey  Secret
	BaseURL string   // another address for it: a proxy, a gateway, a recorded answer
	Models  []string // in place of those that it declares, the default first; none: those
}

// Platform returns what is set for the AI platform of that slug.
func (o Outside) Platform(slug string) Platform {
	name := strings.ToUpper(strings.ReplaceAll(slug, "-", "_"))
	if i := slices.IndexFunc(o.Platforms, func(p Platform) bool { return p.Name == name }); i >= 0 {
		return o.Platforms[i]
	}
	return Platform{Name: name}
}

// Variable is the name of one of its variables: KeyVariable, BaseURLVariable or ModelsVariable.
func (p Platform) Variable(which string) string { return Prefix + "PLATFORM_" + p.Name + "_" + which }

// What the names of a platform's variables end with.
const (
	KeyVariable     = "API_KEY"
	BaseURLVariable = "BASE_URL"
	ModelsVariable  = "MODELS"
)

// A Variable is one name in the environment that is no flag, with what may be shown of its value.
type Variable struct {
	Name   string
	Masked string
}

// FromEnvironment reads environ, whose entries are NAME=value.
func FromEnvironment(environ []string) Outside {
	env := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return Outside{
		ClickHouse: NewDSN(env[Prefix+"CLICKHOUSE_DSN"]), Shards: NewShards(env[Prefix+"CLICKHOUSE_SHARDS"]),
		Postgres: NewDSN(env[Prefix+"POSTGRES_DSN"]), Gateway: NewDSN(env[Prefix+"POSTGRES_GATEWAY_DSN"]), KafkaUsername: env[Prefix+"KAFKA_USERNAME"],
		KafkaPassword: NewSecret(env[Prefix+"KAFKA_PASSWORD"]), Issuer: issuer(env), SecretKeys: NewSecret(env[Prefix+"SECRET_KEYS"]),
		RESTSecret: NewSecret(env[Prefix+"REST_JWT_SECRET"]), AnonKey: NewSecret(env[Prefix+"ANON_KEY"]),
		CronSecret: NewSecret(env["CRON_SECRET"]), Traces: collector(env),
		Platforms: platforms(env),
	}
}

// Variables lists every variable of Outside, set or not; platforms only as far as one of their variables is set.
func (o Outside) Variables() []Variable {
	list := []Variable{
		{Prefix + "CLICKHOUSE_DSN", o.ClickHouse.Masked()},
		{Prefix + "CLICKHOUSE_SHARDS", o.Shards.Masked()},
		{Prefix + "POSTGRES_DSN", o.Postgres.Masked()},
		{Prefix + "POSTGRES_GATEWAY_DSN", o.Gateway.Masked()},
		{Prefix + "KAFKA_USERNAME", o.KafkaUsername},
		{Prefix + "KAFKA_PASSWORD", o.KafkaPassword.Masked()},
		{Prefix + "REST_JWT_SECRET", o.RESTSecret.Masked()},
		{Prefix + "SECRET_KEYS", o.SecretKeys.Masked()},
		{Prefix + "ANON_KEY", o.AnonKey.Masked()},
		{"CRON_SECRET", o.CronSecret.Masked()},
	}
	list = append(append(list, o.Issuer.variables()...), o.Traces.variables()...)
	for _, p := range o.Platforms {
		list = append(list, Variable{p.Variable(KeyVariable), p.APIKey.Masked()},
			Variable{p.Variable(BaseURLVariable), NewDSN(p.BaseURL).Masked()},
			Variable{p.Variable(ModelsVariable), strings.Join(p.Models, ",")})
	}
	return list
}

var platformVariable = regexp.MustCompile(`^` + Prefix + `PLATFORM_([A-Z0-9_]+?)_(API_KEY|BASE_URL|MODELS)$`)

func platforms(env map[string]string) []Platform {
	var found []Platform
	for name, value := range env {
		m := platformVariable.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		i := slices.IndexFunc(found, func(p Platform) bool { return p.Name == m[1] })
		if i < 0 {
			i = len(found)
			found = append(found, Platform{Name: m[1]})
		}
		switch m[2] {
		case KeyVariable:
			found[i].APIKey = NewSecret(strings.TrimSpace(value))
		case BaseURLVariable:
			found[i].BaseURL = strings.TrimSpace(value)
		case ModelsVariable:
			for model := range strings.SplitSeq(value, ",") {
				if model = strings.TrimSpace(model); model != "" {
					found[i].Models = append(found[i].Models, model)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b Platform) int { return strings.Compare(a.Name, b.Name) })
	return found
}

func (o Outside) validate(m *mistakes) {
	m.address("CLICKHOUSE_DSN", o.ClickHouse, "clickhouse", "http", "https")
	if o.Shards.IsSet() {
		for _, replica := range o.Shards.servers() {
			m.want(replica.IsSet(), "CLICKHOUSE_SHARDS", o.Shards.Masked(), "an address on both sides of every ; and ,")
			m.address("CLICKHOUSE_SHARDS", replica, "clickhouse", "http", "https")
		}
	}
	m.address("POSTGRES_DSN", o.Postgres, "postgres", "postgresql")
	m.address("POSTGRES_GATEWAY_DSN", o.Gateway, "postgres", "postgresql")
	o.Issuer.validate(m)
	o.validateRing(m)
	o.Traces.validate(m)
	m.want(!o.ClickHouse.IsSet() || !o.Shards.IsSet(), "CLICKHOUSE_SHARDS", o.Shards.Masked(), "either it or "+Prefix+"CLICKHOUSE_DSN")
	for _, p := range o.Platforms {
		m.want(p.BaseURL == "" || isWeb(p.BaseURL), "PLATFORM_"+p.Name+"_"+BaseURLVariable, NewDSN(p.BaseURL).Masked(), "http://… or https://…")
	}
}

// address checks the form of a DSN that is set; whether its server answers is found when it is connected to.
func (m *mistakes) address(name string, dsn DSN, schemes ...string) {
	parsed, err := url.Parse(dsn.Reveal())
	right := err == nil && slices.Contains(schemes, parsed.Scheme) && parsed.Host != ""
	m.want(!dsn.IsSet() || right, name, dsn.Masked(), strings.Join(schemes, ":// or ")+"://USER:PASSWORD@HOST:PORT/DATABASE")
}

// HasWarehouse reports whether ClickHouse runs elsewhere: on one server or on a cluster.
func (o Outside) HasWarehouse() bool { return o.ClickHouse.IsSet() || o.Shards.IsSet() }

// Unknown returns the names of environ that begin with Prefix but are not known, each with the nearest one
// that does: a misspelt variable is otherwise silently without effect.
func Unknown(environ, known []string) []error {
	var errs []error
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, Prefix) || slices.Contains(known, name) || platformVariable.MatchString(name) {
			continue
		}
		errs = append(errs, fmt.Errorf("%s names no setting: did you mean %s?", name, nearest.Names(name, known, math.MaxInt)[0]))
	}
	return errs
}

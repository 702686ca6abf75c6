package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"
)

const hidden = "hunter2"

// Every way in which a secret could end up in a text, also from inside another package's struct.
func TestASecretNeverShowsItself(t *testing.T) {
	type holder struct {
		secret Secret // fmt does not call methods of unexported fields
		dsn    DSN
		Public Secret
		DSN    DSN
	}
	secret, dsn := NewSecret(hidden), NewDSN("postgres://app:"+hidden+"@db:5432/x?sslmode=require&sslpassword="+hidden)
	held := holder{secret, dsn, secret, dsn}
	var texts []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		texts = append(texts, fmt.Sprintf(verb, secret), fmt.Sprintf(verb, dsn), fmt.Sprintf(verb, held),
			fmt.Sprintf(verb, &held))
	}
	for _, v := range []any{secret, dsn, held, map[string]any{"a": secret, "b": dsn}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(handler).Info("connect", "secret", secret, "dsn", dsn, "held", held, "in", []any{secret, dsn})
	}
	texts = append(texts, log.String())
	for _, text := range texts {
		if strings.Contains(text, hidden) || strings.Contains(text, fmt.Sprintf("%x", hidden)) {
			t.Errorf("shown: %s", text)
		}
	}
	if secret.Reveal() != hidden || !strings.Contains(dsn.Reveal(), hidden) {
		t.Error("Reveal does not reveal")
	}
}

// checked is what is wrong with what comes from the environment alone.
func checked(o Outside) error {
	var m mistakes
	o.validate(&m)
	return errors.Join(m...)
}

func TestADSNShowsWhatHelps(t *testing.T) {
	for address, want := range map[string]string{
		"":                                   "",
		"postgres://app:" + hidden + "@db/x": "postgres://app:****@db/x",
		"clickhouse://db:9000/x?password=" + hidden +
			"&secure=true": "clickhouse://db:9000/x?password=****&secure=true",
		"postgres://app:" +
			hidden +
			"@a:5432,b:5432/x?target_session_attrs=read-write": "postgres://app:****@a:5432,b:5432/" +
			"x?target_session_attrs=read-write",
		"host=db password=" + hidden:                   "****",
		"postgres://app:hun%ter2@db/x":                 "****",
		"https://gateway.example/v1?api_key=" + hidden: "https://gateway.example/v1?api_key=****",
		"https://db/x?Client_SECRET=" + hidden + "&credentials=" + hidden + "&token=" +
			hidden: "https://db/x?Client_SECRET=****&credentials=****&token=****",
		"postgres://db/x?password=50%off":                        "postgres://db/x?password=****",
		"postgres://db/x?password=a;b&sslmode=require":           "postgres://db/x?password=****&sslmode=require",
		"postgres://db/x?sslmode=require;password=a":             "postgres://db/x?sslmode=****",
		"postgres://db/x?pass%77ord=abc":                         "postgres://db/x?pass%77ord=****",
		"postgres://db/x?pass%zzord=abc&a;pass=b":                "postgres://db/x?****&****",
		"postgres://db/x?password=&password=abc":                 "postgres://db/x?password=&password=****",
		"postgres://app:12?3@db/x":                               "****",
		"postgres://app:12/3@db/x":                               "****",
		"postgres://app:12#3@db/x":                               "****",
		"smtp://" + hidden + ":" + hidden + "@relay.example:587": "smtp://****:****@relay.example:587",
	} {
		if got := NewDSN(address).Masked(); got != want {
			t.Errorf("Masked() = %q, want %q", got, want)
		}
	}
}

func TestValidateSaysEverythingThatIsWrongAndWhatWouldBeRight(t *testing.T) {
	right := Settings{
		DataDir: "./var", MinFree: 256 << 20, LogLevel: "info", LogFormat: "text",
		Kafka: Kafka{Partitions: 6, Replicas: 1, Retention: 168 * time.Hour},
	}
	if err := right.Validate(); err != nil {
		t.Errorf("right settings: %v", err)
	}
	err := Settings{
		LogLevel: "loud", LogFormat: "xml", Retention: Retention{
			Answers: -1, Visits: 1201, Crawls: -2, Deadletters: 1202,
		},
		Kafka: Kafka{
			Brokers: []string{"kafka"}, SASL: "gssapi", TopicPrefix: "a b", Partitions: 0, Replicas: 99,
			Retention: time.Minute,
		},
		Outside: FromEnvironment([]string{"ANSWERSCOPE_CLICKHOUSE_DSN=mysql://root:" + hidden + "@db/x",
			"ANSWERSCOPE_POSTGRES_DSN=db", "ANSWERSCOPE_PLATFORM_OPENAI_BASE_URL=gateway"}),
	}.Validate()
	want := `ANSWERSCOPE_DATA_DIR is "": want a directory, such as ./var
ANSWERSCOPE_MIN_FREE is "0": want bytes, at least 16777216
ANSWERSCOPE_LOG_LEVEL is "loud": want debug, info, warn, error or auto
ANSWERSCOPE_LOG_FORMAT is "xml": want text or json
ANSWERSCOPE_KAFKA_BROKERS is "kafka": want HOST:PORT, such as 127.0.0.1:8080
ANSWERSCOPE_KAFKA_SASL is "gssapi": want plain, scram-sha-256 or scram-sha-512
ANSWERSCOPE_KAFKA_SASL is "gssapi": want a mechanism, ANSWERSCOPE_KAFKA_USERNAME and ` +
		`ANSWERSCOPE_KAFKA_PASSWORD together, or none of them
ANSWERSCOPE_KAFKA_TOPIC_PREFIX is "a b": want at most 200 of a–z, A–Z, 0–9, dot, _ and -
ANSWERSCOPE_KAFKA_PARTITIONS is "0": want 1 to 1000
ANSWERSCOPE_KAFKA_REPLICAS is "99": want 1 to 15, and no more than there are brokers
ANSWERSCOPE_KAFKA_RETENTION is "1m0s": want at least 1h: what expires unread is lost
ANSWERSCOPE_RETENTION_ANSWERS is "-1": want whole months, 1 to 1200, or 0 without limit
ANSWERSCOPE_RETENTION_VISITS is "1201": want whole months, 1 to 1200, or 0 without limit
ANSWERSCOPE_RETENTION_CRAWLS is "-2": want whole months, 1 to 1200, or 0 without limit
ANSWERSCOPE_RETENTION_DEADLETTERS is "1202": want whole months, 1 to 1200, or 0 without limit
ANSWERSCOPE_CLICKHOUSE_DSN is "mysql://root:****@db/x": want clickhouse:// or http:// or ` +
		`https://USER:PASSWORD@HOST:PORT/DATABASE
ANSWERSCOPE_POSTGRES_DSN is "****": want postgres:// or postgresql://USER:PASSWORD@HOST:PORT/DATABASE
ANSWERSCOPE_PLATFORM_OPENAI_BASE_URL is "****": want http://… or https://…`
	if err == nil || err.Error() != want {
		t.Errorf("Validate() said\n%v\nwant\n%s", err, want)
	}
}

func TestSeveralHostsOfPostgreSQLAreForItsPrimary(t *testing.T) {
	for parameters, ok := range map[string]bool{
		"?target_session_attrs=read-write": true, "?sslmode=disable&target_session_attrs=primary": true,
		"": false, "?target_session_attrs=any": false, "?target_session_attrs=prefer-standby": false,
	} {
		for _, name := range []string{"ANSWERSCOPE_POSTGRES_DSN", "ANSWERSCOPE_POSTGRES_GATEWAY_DSN"} {
			s := Settings{
				DataDir: "./var", MinFree: 256 << 20, LogLevel: "info", LogFormat: "text",
				Kafka: Kafka{Partitions: 6, Replicas: 1, Retention: 168 * time.Hour},
			}
			s.Outside = FromEnvironment([]string{name + "=postgres://app:" + hidden + "@a:5432,b:5432/x" + parameters})
			want := name + ` is "postgres://app:****@a:5432,b:5432/x` + parameters +
				`": want target_session_attrs=read-write with several hosts, for the one that takes writes`
			if err := s.Validate(); (err == nil) != ok || err != nil && err.Error() != want {
				t.Errorf("%s: %v, want %s", parameters, err, want)
			}
		}
	}
}

func TestAPublicURLIsAnOrigin(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "http://127.0.0.1:8080": true, "https://answers.example": true, "https://[::1]:8443": true,
		"answers.example": false, "//answers.example": false, "ftp://answers.example": false, "https://": false,
		"https:///app":             false,
		"https://answers.example/": false, "https://answers.example/app": false, "https://answers.example?a": false,
		"https://answers.example#a": false, "https://ann:" + hidden + "@answers.example": false,
	} {
		s := Settings{
			DataDir: "./var", MinFree: 256 << 20, LogLevel: "info", LogFormat: "text",
			Kafka: Kafka{Partitions: 6, Replicas: 1, Retention: 168 * time.Hour}, PublicURL: address,
		}
		if err := s.Validate(); (err == nil) != ok ||
			err != nil && (!strings.Contains(err.Error(), "ANSWERSCOPE_PUBLIC_URL is ") ||
				strings.Contains(err.Error(), hidden)) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestAddressesNameAPort(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:8080": true, ":8080": true, "[::1]:0": true, "db.example:9000": true,
		"8080": false, "db:port": false, "db:70000": false, "http://db:80": false, "[nonsense:x]:80": false,
		"a b:80": false,
	} {
		if err := Address(address); (err == nil) != ok {
			t.Errorf("Address(%q) = %v", address, err)
		}
	}
	for address, want := range map[string]string{
		"db:70000": `want a port of 0 to 65535 after the colon, not "70000"`,
		"db:port":  `want a port of 0 to 65535 after the colon, not "port"`,
	} {
		if err := Address(address); err == nil || err.Error() != want {
			t.Errorf("Address(%q) = %v, want %s", address, err, want)
		}
	}
}

func TestAMisspeltVariableIsNamed(t *testing.T) {
	known := []string{"ANSWERSCOPE_KAFKA_BROKERS", "ANSWERSCOPE_LISTEN", "ANSWERSCOPE_DATA_DIR"}
	environ := []string{
		"HOME=/", "ANSWERSCOPE_KAFKA_BROKER=x", "ANSWERSCOPE_LISTEN=y", "ANSWERSCOPE_PLATFORM_OPENAI_API_KEY=z",
	}
	errs := Unknown(environ, known)
	if len(errs) != 1 ||
		errs[0].Error() != "ANSWERSCOPE_KAFKA_BROKER names no setting: did you mean ANSWERSCOPE_KAFKA_BROKERS?" {
		t.Errorf("Unknown() = %v", errs)
	}
}

func TestPlatformsComeFromTheirVariables(t *testing.T) {
	o := FromEnvironment([]string{
		"ANSWERSCOPE_PLATFORM_GOOGLE_AI_MODE_API_KEY=" + hidden,
		"ANSWERSCOPE_PLATFORM_GOOGLE_AI_MODE_BASE_URL=http://127.0.0.1:1",
	})
	if len(o.Platforms) != 1 || o.Platforms[0].Name != "GOOGLE_AI_MODE" || o.Platforms[0].APIKey.Reveal() != hidden ||
		o.Platforms[0].BaseURL != "http://127.0.0.1:1" {
		t.Errorf("Platforms = %+v", o.Platforms)
	}
	for _, v := range o.Variables() {
		if strings.Contains(v.Masked, hidden) {
			t.Errorf("%s shows its value", v.Name)
		}
	}
}

func TestAccountLimitsComeFromTheEnvironment(t *testing.T) {
	const variable = "ANSWERSCOPE_PLATFORM_OPENAI_LIMITS"
	right := Settings{
		DataDir: "./var", MinFree: 256 << 20, LogLevel: "info", LogFormat: "text",
		Kafka: Kafka{Partitions: 6, Replicas: 1, Retention: 168 * time.Hour},
	}
	for text, want := range map[string]string{
		"": "- - -", "requests=5000,tokens=2000000,in-flight=200": "5000 2000000 200",
		" in-flight = 7 , tokens=0 ": "- 0 7", "requests=1000000": "1000000 - -",
	} {
		right.Outside = FromEnvironment([]string{variable + "=" + text})
		limits := right.Outside.Platform("openai").Limits()
		got := strings.Join([]string{shown(limits.RequestsPerMinute), shown(limits.TokensPerMinute),
			shown(limits.InFlight)}, " ")
		if err := right.Validate(); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		"requests=0", "requests=-1", "requests=1000001", "in-flight=0", "in-flight=1000001", "tokens=-1",
		"tokens=1000000001", "tokens", "tokens=", "tokens=1.5",
		"requests=99999999999999999999", "minutes=5", "requests=5,requests=6", "requests=5,", ",",
		"requests=5;tokens=6", "Requests=5",
	} {
		right.Outside = FromEnvironment([]string{variable + "=" + text})
		if err := right.Validate(); err == nil || !strings.HasPrefix(err.Error(), variable+" is ") ||
			!strings.Contains(err.Error(), "want requests=1 to 1000000") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func shown(limit *int) string {
	if limit == nil {
		return "-"
	}
	return strconv.Itoa(*limit)
}

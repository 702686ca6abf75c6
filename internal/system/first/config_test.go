package first

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
)

// shownSetting is a setting as config --json prints it.
type shownSetting struct {
	Value string `json:"value"`
	From  string `json:"from"` // flag, environment or default
}

func TestConfigShowsWhatIsEffectiveAndNoSecret(t *testing.T) {
	env := []string{
		"ANSWERSCOPE_POSTGRES_DSN=postgres://app:hunter2@db:5432/answerscope",
		"ANSWERSCOPE_JWT_SECRET=hunter2", "CRON_SECRET=hunter2", "ANSWERSCOPE_PLATFORM_OPENAI_API_KEY=hunter2",
		"ANSWERSCOPE_LISTEN=127.0.0.1:7000",
	}
	table := run.Must(t, env, "config", "--kafka-partitions", "12")
	var document map[string]shownSetting
	if err := json.Unmarshal([]byte(run.Must(t, env, "config", "--kafka-partitions", "12", "--json")),
		&document); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(table, "hunter2") {
		t.Errorf("shows a secret:\n%s", table)
	}
	for name, want := range map[string]shownSetting{
		"ANSWERSCOPE_POSTGRES_DSN":            {Value: "postgres://app:****@db:5432/answerscope", From: "environment"},
		"ANSWERSCOPE_CLICKHOUSE_DSN":          {Value: "", From: "default"},
		"ANSWERSCOPE_JWT_SECRET":              {Value: "****", From: "environment"},
		"ANSWERSCOPE_PLATFORM_OPENAI_API_KEY": {Value: "****", From: "environment"},
		"CRON_SECRET":                         {Value: "****", From: "environment"},
		"ANSWERSCOPE_LISTEN":                  {Value: "127.0.0.1:7000", From: "environment"},
		"ANSWERSCOPE_KAFKA_PARTITIONS":        {Value: "12", From: "flag"},
		"ANSWERSCOPE_DATA_DIR":                {Value: "./var", From: "default"},
	} {
		if document[name] != want {
			t.Errorf("%s: %+v, want %+v", name, document[name], want)
		}
		if !strings.Contains(table, name) {
			t.Errorf("the table lacks %s:\n%s", name, table)
		}
	}
}

func TestConfigCheckSaysAllThatIsWrong(t *testing.T) {
	if r := run.ToEnd(t, nil, "", "config", "--check"); r.Status != run.ExitDone || r.Stdout+r.Stderr != "" {
		t.Errorf("the defaults: status %d, %s%s", r.Status, r.Stdout, r.Stderr)
	}
	r := run.ToEnd(t,
		[]string{"ANSWERSCOPE_LISTEN=8080", "ANSWERSCOPE_KAFKA_BROKERS=a:1,b", "ANSWERSCOPE_KAFKA_BROKER=c:1",
			"ANSWERSCOPE_START_LIMIT=-1", "ANSWERSCOPE_CANARY=yes", "ANSWERSCOPE_TRACKING_URL=ingest:8082",
			"ANSWERSCOPE_DEFAULT_PLATFORMS=openai,none",
			"ANSWERSCOPE_POSTGRES_GATEWAY_DSN=db:5432",
			"ANSWERSCOPE_REST_SCHEMAS=api", "ANSWERSCOPE_REST_MAX_ROWS=many"}, "", "config", "--check")
	want := `answerscope: ANSWERSCOPE_KAFKA_BROKERS is "b": want HOST:PORT, such as 127.0.0.1:8080
ANSWERSCOPE_POSTGRES_GATEWAY_DSN is "****": want postgres:// or postgresql://USER:PASSWORD@HOST:PORT/DATABASE
ANSWERSCOPE_LISTEN is "8080": want HOST:PORT, such as 127.0.0.1:8080
ANSWERSCOPE_START_LIMIT is -1: want 0 or more
ANSWERSCOPE_CANARY is "yes": want on or off
ANSWERSCOPE_DEFAULT_PLATFORMS: want names of platforms, such as openai, and with-key, or none alone, got "none"
ANSWERSCOPE_TRACKING_URL is "ingest:8082": want the address of the tracking server, such as http://ingest:8082
ANSWERSCOPE_REST_MAX_ROWS is "many": want a number of rows
ANSWERSCOPE_KAFKA_BROKER names no setting: did you mean ANSWERSCOPE_KAFKA_BROKERS?
`
	if r.Status != run.ExitFailed || r.Stderr != want {
		t.Errorf("status %d, said\n%s\nwant\n%s", r.Status, r.Stderr, want)
	}
}

// A mistake has the name that the person knows: the flag of a command line, the variable of an environment.
func TestAMistakeNamesWhatWasGiven(t *testing.T) {
	t.Parallel()
	env := []string{"ANSWERSCOPE_LOG_FORMAT=xml", "ANSWERSCOPE_LISTEN=8080"}
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"all", "--listen", ":99999", "--log-level", "loud", "--rate-limit=-1"}, run.ExitUsage},
		{[]string{"config", "--check", "--listen", ":99999", "--log-level", "loud", "--rate-limit=-1"}, run.ExitFailed},
	} {
		r := run.ToEnd(t, env, "", c.args...)
		want := `answerscope: --log-level is "loud": want debug, info, warn, error or auto
ANSWERSCOPE_LOG_FORMAT is "xml": want text or json
--listen is ":99999": want a port of 0 to 65535 after the colon, not "99999"
--rate-limit is -1: want requests a second, 0 for no limit
`
		if r.Status != c.status || r.Stderr != want {
			t.Errorf("%v: status %d, said\n%s\nwant\n%s", c.args, r.Status, r.Stderr, want)
		}
	}
}

func TestWrongUsageIsStatus2AndNamesTheHelp(t *testing.T) {
	for _, args := range [][]string{
		{"nonsense"}, {"org", "add"}, {"org", "add", ""}, {"org", "add", "A\u202eB"}, {"all", "--nonsense"},
		{"all", "--kafka-partitions", "many"}, {"all", "--log-level", "loud"},
	} {
		r := run.ToEnd(t, nil, "", args...)
		if r.Status != run.ExitUsage || r.Stdout != "" || !strings.HasPrefix(r.Stderr, "answerscope: ") {
			t.Errorf("%v: status %d, stdout %q, stderr %q", args, r.Status, r.Stdout, r.Stderr)
		}
	}
}

// An empty ClickHouse was started beside the data directory, and the log landed there.
func TestAMisspeltAddressStartsNoEngine(t *testing.T) {
	t.Parallel()
	r := run.ToEnd(t, []string{
		"ANSWERSCOPE_DATA_DIR=" + t.TempDir(), "ANSWERSCOPE_POSTGRES_DSN=postgres://app@127.0.0.1:1/none",
		"ANSWERSCOPE_CLICKHOUSE_DNS=clickhouse://app@127.0.0.1:1/none", "ANSWERSCOPE_KAFKA_BROKERS=127.0.0.1:1",
	}, "", "pipeline", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if r.Status != run.ExitUsage ||
		!strings.Contains(r.Stderr,
			"ANSWERSCOPE_CLICKHOUSE_DNS names no setting: did you mean ANSWERSCOPE_CLICKHOUSE_DSN?") {
		t.Errorf("status %d, %q", r.Status, r.Stderr)
	}
}

// What status knows without the engines is shown when they do not answer, which is when it is asked.
func TestStatusShowsWhatItKnowsWithoutEngines(t *testing.T) {
	t.Parallel()
	r := run.ToEnd(t, []string{
		"ANSWERSCOPE_DATA_DIR=" + t.TempDir(), "ANSWERSCOPE_POSTGRES_DSN=postgres://app:hunter2@127.0.0.1:1/none",
		"ANSWERSCOPE_CLICKHOUSE_DSN=clickhouse://app:hunter2@127.0.0.1:1/none", "ANSWERSCOPE_KAFKA_BROKERS=127.0.0.1:1",
	}, "", "status")
	if r.Status != run.ExitFailed || !strings.Contains(r.Stdout, "MB free") ||
		!strings.Contains(r.Stderr, "127.0.0.1:1") || strings.Contains(r.Stdout+r.Stderr, "hunter2") {
		t.Errorf("status %d, %q, %q", r.Status, r.Stdout, r.Stderr)
	}
}

func TestConfigChecksRetention(t *testing.T) {
	r := run.ToEnd(t, []string{"ANSWERSCOPE_RETENTION_VISITS=-1"}, "", "config",
		"--check", "--retention-deadletters=1201")
	want := `answerscope: ANSWERSCOPE_RETENTION_VISITS is "-1": want whole months, 1 to 1200, or 0 without limit
--retention-deadletters is "1201": want whole months, 1 to 1200, or 0 without limit
`
	if r.Status != run.ExitFailed || r.Stderr != want {
		t.Errorf("status %d, said\n%s\nwant\n%s", r.Status, r.Stderr, want)
	}
}

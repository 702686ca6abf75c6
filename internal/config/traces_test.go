package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhereTracesGo(t *testing.T) {
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{nil, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318"}, "http://c:4318/v1/traces"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://c/otlp/"}, "https://c/otlp/v1/traces"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t:4318/in"},
			"http://t:4318/in"},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t:4318/in", "ANSWERSCOPE_OTLP_ENDPOINT=http://own:4318"},
			"http://own:4318/v1/traces"},
		{[]string{"ANSWERSCOPE_OTLP_ENDPOINT=http://own:4318", "OTEL_SDK_DISABLED=true"}, ""},
	} {
		if got := FromEnvironment(c.environ).Traces.Endpoint(); got != c.want {
			t.Errorf("%v: %q, want %q", c.environ, got, c.want)
		}
	}
}

// The exporter prints on stderr what it cannot read, so that must not reach it.
func TestWhatTheExporterCouldNotReadIsRefusedAndNotShown(t *testing.T) {
	const base = "ANSWERSCOPE_OTLP_ENDPOINT=http://c:4318"
	for environ, name := range map[string]string{
		"ANSWERSCOPE_OTLP_ENDPOINT=c:4318":                                       "ANSWERSCOPE_OTLP_ENDPOINT",
		"ANSWERSCOPE_OTLP_ENDPOINT=http://user:" + hidden + "@c:4318":            "ANSWERSCOPE_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318?token=" + hidden:              "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=grpc://c:4317":                       "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		base + "\nOTEL_EXPORTER_OTLP_HEADERS=" + hidden:                          "OTEL_EXPORTER_OTLP_HEADERS",
		base + "\nOTEL_EXPORTER_OTLP_HEADERS=a=b,au thorization=" + hidden:       "OTEL_EXPORTER_OTLP_HEADERS",
		base + "\nOTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=%zz" + hidden:  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
		base + "\nOTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=x,=" + hidden:  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
		base + "\nOTEL_EXPORTER_OTLP_HEADERS=authorization: Bearer " + hidden:    "OTEL_EXPORTER_OTLP_HEADERS",
		base + "\nOTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer 100%" + hidden: "OTEL_EXPORTER_OTLP_HEADERS",
	} {
		err := checked(FromEnvironment(strings.Split(environ, "\n")))
		if err == nil || !strings.HasPrefix(err.Error(), name+" is ") || strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", environ, err)
		}
	}
	right := FromEnvironment([]string{
		base, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20" + hidden + ", x-scope=a",
	})
	if err := checked(right); err != nil {
		t.Errorf("right settings: %v", err)
	}
	if shown := fmt.Sprint(right.Variables(), right); strings.Contains(shown, hidden) ||
		!strings.Contains(shown, "{OTEL_EXPORTER_OTLP_HEADERS ****}") {
		t.Errorf("shown: %s", shown)
	}
	// Of no concern to a process that traces nothing.
	if err := checked(FromEnvironment([]string{"OTEL_EXPORTER_OTLP_HEADERS=nonsense"})); err != nil {
		t.Errorf("headers alone: %v", err)
	}
}

package cli

import (
	"testing"

	"github.com/answerscope/answerscope/internal/config"
)

// Each retention, from the environment or a flag, sets its own field of the settings; a flag goes first.
func TestRetentionComesFromTheSettings(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		flags []string
		want  config.Retention
	}{
		{},
		{env: map[string]string{"ANSWERSCOPE_RETENTION_ANSWERS": "13", "ANSWERSCOPE_RETENTION_VISITS": "3",
			"ANSWERSCOPE_RETENTION_DEADLETTERS": "1", "ANSWERSCOPE_RETENTION_CRAWLS": "5"},
			want: config.Retention{Answers: 13, Visits: 3, Deadletters: 1, Crawls: 5}},
		{flags: []string{"--retention-answers=24", "--retention-visits=6", "--retention-deadletters=2",
			"--retention-crawls=4"}, want: config.Retention{Answers: 24, Visits: 6, Deadletters: 2, Crawls: 4}},
		{env: map[string]string{"ANSWERSCOPE_RETENTION_VISITS": "3"},
			flags: []string{"--retention-visits=7", "--retention-answers=9"},
			want:  config.Retention{Answers: 9, Visits: 7}},
	} {
		for _, command := range []string{"all", "pipeline"} {
			t.Run(command, func(t *testing.T) {
				for name, value := range c.env {
					t.Setenv(name, value)
				}
				var g grammar
				parser, err := newParser(&g)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := parser.Parse(append([]string{command}, c.flags...)); err != nil {
					t.Fatal(err)
				}
				if g.Settings.Retention != c.want {
					t.Errorf("%v %v: %+v months, want %+v", c.env, c.flags, g.Settings.Retention, c.want)
				}
			})
		}
	}
}

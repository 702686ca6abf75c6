package cli

import (
	"testing"

	"github.com/answerscope/answerscope/internal/config"
)

// Each time, from the environment or a flag, comes to the facts that it names, in both commands that let them go.
func TestRetentionComesFromTheSettings(t *testing.T) {
	type times struct{ answers, visits, letters, crawls int }
	for _, c := range []struct {
		env   map[string]string
		flags []string
		want  times
	}{
		{},
		{env: map[string]string{"ANSWERSCOPE_RETENTION_ANSWERS": "13", "ANSWERSCOPE_RETENTION_VISITS": "3", "ANSWERSCOPE_RETENTION_DEADLETTERS": "1", "ANSWERSCOPE_RETENTION_CRAWLS": "5"}, want: times{13, 3, 1, 5}},
		{flags: []string{"--retention-answers=24", "--retention-visits=6", "--retention-deadletters=2", "--retention-crawls=4"}, want: times{24, 6, 2, 4}},
		{env: map[string]string{"ANSWERSCOPE_RETENTION_VISITS": "3"}, flags: []string{"--retention-visits=7", "--retention-answers=9"}, want: times{9, 7, 0, 0}},
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
				p := &process{settings: config.Settings(g.Settings)}
				cfg := p.retaining()
				if got := (times{cfg.Months["answers"], cfg.Months["visits"], cfg.DeadLetters, cfg.Months["crawls"]}); got != c.want {
					t.Errorf("%v %v: kept for %+v months, want %+v", c.env, c.flags, got, c.want)
				}
			})
		}
	}
}

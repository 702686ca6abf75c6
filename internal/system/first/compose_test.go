package first

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/answerscope/answerscope/internal/system/run"
)

var (
	composeSetting = regexp.MustCompile(`(?m)^\s+(ANSWERSCOPE_\w+): (.+)$`)
	composeCommand = regexp.MustCompile(`(?m)^    command: \[(.+)\]$`)
	composeDefault = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`)
	composeSecret  = regexp.MustCompile(`\$\{\w+:\?[^}]*\}`)
)

// What deploy/compose.yaml sets and runs is there: a setting that was renamed would have no effect, and no message.
func TestTheServicesOfComposeAreOurs(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, m := range composeSetting.FindAllStringSubmatch(string(text), -1) {
		env = append(env,
			m[1]+"="+composeSecret.ReplaceAllString(composeDefault.ReplaceAllString(m[2], "$1"), "secret"))
	}
	if len(env) < 4 {
		t.Errorf("it sets only %v", env)
	}
	if r := run.ToEnd(t, env, "", "config", "--check"); r.Status != run.ExitDone {
		t.Errorf("its settings: %s", r.Stderr)
	}
	commands := composeCommand.FindAllStringSubmatch(string(text), -1)
	if len(commands) < 3 {
		t.Errorf("it runs only %v", commands)
	}
	for _, m := range commands {
		args := strings.Split(strings.ReplaceAll(m[1], `"`, ""), ", ")
		run.Must(t, env, append(args, "--help")...)
	}
}

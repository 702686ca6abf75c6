package run

import (
	"os"
)

// KillsVariable says how many kills there are on each broker, in place of the few that every run of the tests has: see
// make test-crash.
const KillsVariable = "ANSWERSCOPE_TEST_KILLS"

// LongRun reports whether this is make test-crash.
func LongRun() bool { return os.Getenv(KillsVariable) != "" }

package cli

import (
	"bytes"
	"testing"
)

// What clients wrote ends no line of a list, and does nothing to a terminal.
func TestListsShowControlsAsEscapes(t *testing.T) {
	t.Parallel()
	for asJSON, want := range map[bool]string{
		false: "b\\u000a2026\\u001b[2J\\u009b\\u202eé  c\n",
		true:  "\"b\\n2026\\u001b[2J\\u009b\\u202eé\\tc\"\n",
	} {
		var out bytes.Buffer
		list := []string{"b\n2026\x1b[2J\u009b\u202eé\tc"}
		if err := printList(&process{stdout: &out}, asJSON, list, func(line string) string {
			return line
		}); err != nil || out.String() != want {
			t.Errorf("%q, %v", out.String(), err)
		}
	}
}

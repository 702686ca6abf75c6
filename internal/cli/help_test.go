package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	var g grammar
	parser, err := newParser(&g)
	if err != nil {
		t.Fatal(err)
	}
	var help bytes.Buffer
	parser.Stdout, parser.Exit = &help, func(int) {}
	for _, leaf := range leaves(parser.Model.Node) {
		t.Run(leaf, func(t *testing.T) {
			help.Reset()
			_, _ = parser.Parse(append(strings.Fields(leaf), "--help")) // what it lacks is an error only after its help
			if help := help.String(); !strings.Contains(help, "Example:") ||
				!strings.Contains(help, "answerscope "+leaf) || strings.Contains(help, "ANSWERSCOPE_DATA_DIR") {
				t.Errorf("want an example and none of the settings of every command:\n%s", help)
			}
		})
	}
}

func leaves(node *kong.Node) []string {
	var paths []string
	for _, child := range node.Children {
		if len(child.Children) == 0 && !child.Hidden {
			paths = append(paths, strings.TrimPrefix(child.FullPath(), "answerscope "))
		}
		paths = append(paths, leaves(child)...)
	}
	return paths
}

package simulator

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed phrase/*.txt
var files embed.FS

// kinds lists the kinds of sentences that every language has.
var kinds = []string{"label", "intro", "positive", "neutral", "negative", "filler", "closing", "query", "sources"}

// phrases holds a language's sentences by kind, with {name}, {other} and {prompt} to be filled in.
type phrases map[string][]string

// languages reads every phrase/<language>.txt: lines of "kind: sentence". The
// files are part of the program, so a fault in one is a panic.
func languages() map[string]phrases {
	entries, err := files.ReadDir("phrase")
	if err != nil {
		panic(err)
	}
	all := map[string]phrases{}
	for _, entry := range entries {
		text, err := files.ReadFile(path.Join("phrase", entry.Name()))
		if err != nil {
			panic(err)
		}
		sentences := phrases{}
		for line := range strings.Lines(string(text)) {
			kind, sentence, ok := strings.Cut(strings.TrimRight(line, "\n"), ": ")
			if !ok || !slices.Contains(kinds, kind) {
				panic(fmt.Sprintf("%s: %q: want one of %q and a sentence", entry.Name(), line, kinds))
			}
			sentences[kind] = append(sentences[kind], sentence)
		}
		for _, kind := range kinds {
			if len(sentences[kind]) == 0 {
				panic(fmt.Sprintf("%s: no %s", entry.Name(), kind))
			}
		}
		all[strings.TrimSuffix(entry.Name(), ".txt")] = sentences
	}
	return all
}

// language returns the phrases of a BCP 47 tag, English for an unknown one.
func (s *Simulator) language(tag string) phrases {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if p, ok := s.phrases[primary]; ok {
		return p
	}
	return s.phrases["en"]
}

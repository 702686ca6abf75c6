package cli

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/pipeline/extract/near"
)

// listedNear is how many names an import lists that were not counted. searchedNear answers are searched for them:
// enough to find what is frequent, and a second of CPU.
const (
	listedNear   = 10
	searchedNear = 20_000
)

// findNear has the first answers that an import appends searched for such names meanwhile, since an import mostly waits
// for the engines. names ends that, and has the result.
func findNear(in *imports.Importer) (names func() []near.Name) {
	var found near.Finder
	queue, done := make(chan *event.Answer, 16), make(chan struct{})
	go func() {
		defer close(done)
		for a := range queue {
			found.Read(a)
		}
	}()
	left := searchedNear
	in.Observe = func(a *event.Answer) {
		if left--; left >= 0 {
			queue <- a
		}
	}
	return func() []near.Name {
		close(queue)
		<-done
		return found.Names(listedNear)
	}
}

// sayNear lists what nearly is a name, and was not counted.
func (p *process) sayNear(names []near.Name) {
	for _, n := range names {
		answers := "answers"
		if n.Answers == 1 {
			answers = "answer"
		}
		p.say("not counted: %q in %d %s, nearly %q of %s", n.Text, n.Answers, answers, n.Near, n.Entity)
	}
	if len(names) > 0 {
		p.say("where that is the same, add it to the aliases, and what was imported is read again: docs/import.md#names-that-nearly-match")
	}
}

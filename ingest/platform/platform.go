package platform

import (
	"context"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// Platform asks one prompt and returns what came back. It asks once: when and
// how often to ask again is the caller's decision, for which an error that
// comes from the platform is an *Error. A canceled ctx gives ctx's error.
// Implementations are safe for concurrent use.
type Platform interface {
	Ask(ctx context.Context, question Question) (Reply, error)
}

// Question is one run: a prompt put to one model for one region, once.
type Question struct {
	Text     string
	Region   string    // as the prompt names it, for example "us"; "" none
	Language string    // BCP 47, for example "de"; "" none
	Model    string    // requested slug; "" the platform's own choice
	Sample   int64     // 1-based; samples of one prompt are independent runs
	Due      time.Time // when the run was due, which is part of its identity
}

// Reply is the platform's part of an answer's record. Its text is the whole
// answer: a platform that finds none returns an Error and never an empty reply.
type Reply struct {
	ServedModel   string // what the platform says answered; "" when it does not say
	Surface       event.Surface
	Text          string
	Citations     []Citation // in the platform's order
	SearchQueries []string
	Products      []event.Product
	Usage         *event.Usage
	Finish        event.Finish
	Raw           []byte // payload as received, for a person who doubts the reading
}

// Citation is a URL that the platform lists, with the part of the text that it
// supports: bytes Start to End of Reply.Text, both 0 where the platform does
// not say.
type Citation struct {
	event.Citation
	Start, End int
}

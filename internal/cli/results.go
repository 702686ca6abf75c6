package cli

import (
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/internal/timetable"
	"github.com/answerscope/answerscope/pipeline/extract"
	"github.com/answerscope/answerscope/pipeline/results"
)

// writerOfResults is its name in the log and in readiness.
const writerOfResults = "results"

// assembleResults adds what writes answers to prompt_results, and nightly lets old ones go.
func assembleResults(s *service) error {
	writer := results.New(extract.Version, s.db, s.warehouse, time.Now, s.metrics, s.log)
	s.timetable.Every("prune results", timetable.Daily(3, 20), writer.Prune)
	s.timetable.Every("renew results", timetable.Daily(3, 40), writer.Renew)
	answers := s.reading("answerscope-results", event.TopicAnswers)
	answers.Limits.Records, answers.Limits.Bytes = 1000, 8<<20 // a batch is a transaction
	return consuming(s, writerOfResults, answers, writer)
}

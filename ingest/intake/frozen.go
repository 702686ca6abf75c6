package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/postgres"
)

// thawed leaves out the answers of months that are frozen, and tells each to
// refuse. Which answers of such a month have landed is not known any more, since
// its raw facts expire: told again they would be counted twice, so the sink takes
// none of them.
func thawed[T any](ctx context.Context, store *postgres.DB, batch []T, at func(T) time.Time, refuse func(T, error)) ([]T, error) {
	var months []time.Time
	for _, answer := range batch {
		if month := postgres.MonthOf(at(answer)); !slices.Contains(months, month) {
			months = append(months, month)
		}
	}
	if len(months) == 0 {
		return batch, nil
	}
	frozen, err := store.FrozenMonths(ctx, event.TopicAnswers, months)
	if err != nil || len(frozen) == 0 {
		return batch, err
	}
	return slices.DeleteFunc(batch, func(answer T) bool {
		if !frozen[postgres.MonthOf(at(answer))] {
			return false
		}
		refuse(answer, fmt.Errorf("answered_at %s: raw answers of that month have expired, and no more are taken; want a later one", at(answer).Format(time.RFC3339)))
		return true
	}), nil
}

package crash

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/answerscope/answerscope/internal/system/run"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A standing answer is how one is read, and when it came.
type standingAnswer struct {
	pair    string // prompt and platform
	at      time.Time
	reading string
}

// writtenOtherwise says where prompt_results are not what stands in the warehouse: every answer, but of the old ones
// only the newest of each prompt and platform.
func (k *killing) writtenOtherwise(t *testing.T, warehouse *clickhouse.Conn) string {
	t.Helper()
	want, newest := k.standing(t, warehouse), map[string]string{}
	for id, a := range want {
		if n := want[newest[a.pair]]; a.at.After(n.at) || a.at.Equal(n.at) && id > newest[a.pair] {
			newest[a.pair] = id
		}
	}
	old := time.Now().AddDate(0, 0, -90)
	maps.DeleteFunc(want, func(id string, a standingAnswer) bool { return a.at.Before(old) && newest[a.pair] != id })
	got := map[string]standingAnswer{}
	err := run.InPostgres(t, k.env, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, `
			SELECT id::text, prompt_id || ' ' || platform, created_at AT TIME ZONE 'UTC',
				concat_ws(' ', revision, extract_version, mention_count, citation_count,
					coalesce(mention_position, 0), visibility_score, sentiment)
			FROM public.prompt_results`)
		if err != nil {
			return err
		}
		var id string
		var a standingAnswer
		_, err = pgx.ForEachRow(rows, []any{&id, &a.pair, &a.at, &a.reading}, func() error {
			got[id] = a
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, a := range want {
		if got[id] != a {
			return fmt.Sprintf("result %s is %+v, want %+v; there are %d, want %d", id, got[id], a, len(got), len(want))
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("there are %d results, want %d", len(got), len(want))
	}
	return ""
}

// standing are the answers of the landing table by id, each as it is read now.
func (k *killing) standing(t *testing.T, warehouse *clickhouse.Conn) map[string]standingAnswer {
	t.Helper()
	rows, err := warehouse.Query(t.Context(), `
		SELECT toString(id), concat(toString(prompt_id), ' ', platform), answered_at,
			concatWithSeparator(' ', toString(revision), toString(extract_version), toString(mention_count),
				toString(citation_count), toString(position), toString(visibility_score), toString(sentiment))
		FROM answers
		WHERE sign = 1 AND NOT given_up
		ORDER BY revision DESC, extract_version DESC
		LIMIT 1 BY brand_id, id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	standing := map[string]standingAnswer{}
	for rows.Next() {
		var id string
		var a standingAnswer
		if err := rows.Scan(&id, &a.pair, &a.at, &a.reading); err != nil {
			t.Fatal(err)
		}
		a.at = a.at.UTC()
		standing[id] = a
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return standing
}

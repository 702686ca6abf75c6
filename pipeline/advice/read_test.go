package advice

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit/warehouse"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The answers of a window are read as they are now: a correction is one answer, its text is on its first row. Answers
// of another brand, of other days, given up and of shopping platforms count nowhere.
func TestTextsAreReadFromTheWarehouse(t *testing.T) {
	t.Parallel()
	conn := warehouse.Migrated(t)
	var rows []clickhouse.AnswerRow
	add := func(change func(*clickhouse.AnswerRow)) {
		row := warehouse.Answer(int64(len(rows)), warehouse.Day)
		row.PromptID, row.PromptText, row.Language = clickhouse.UUID{byte(len(rows) % 3)}, "which lamp?", "en"
		row.Text, row.MentionCount = "1. Lumen\n2. **Nova Pro** is bright\n3. **Nova Max** is dim", 1
		row.CardBrands = []string{"NOVA"}
		change(&row)
		rows = append(rows, row)
	}
	for range 6 {
		add(func(*clickhouse.AnswerRow) {})
	}
	corrected := rows[5]
	for _, sign := range []int8{-1, 1} {
		row := corrected
		row.Sign, row.Text = sign, ""
		if sign == 1 {
			row.Revision, row.MentionCount, row.CompetitorMentionCounts = 2, 0, []uint32{3}
		}
		rows = append(rows, row)
	}
	add(func(r *clickhouse.AnswerRow) { r.BrandID = clickhouse.UUID{9} })
	add(func(r *clickhouse.AnswerRow) { r.OrganizationID = clickhouse.UUID{9} })
	add(func(r *clickhouse.AnswerRow) { r.Day = r.Day.AddDate(0, 0, 1) })
	add(func(r *clickhouse.AnswerRow) { r.GivenUp, r.CardBrands = true, []string{""} })
	add(func(r *clickhouse.AnswerRow) { r.Platform = "google-shopping" })
	add(func(r *clickhouse.AnswerRow) { r.Language = "ja" })
	if err := clickhouse.Answers.Insert(t.Context(), conn, "answers/0@0-1/1", rows); err != nil {
		t.Fatal(err)
	}
	brand := Brand{Snapshot: postgres.Snapshot{
		OrganizationID: uuid.UUID(warehouse.Organization), BrandID: uuid.UUID(warehouse.Brand), Name: "Lumen",
		Competitors: []postgres.Competitor{{ID: uuid.UUID(warehouse.Competitor), Name: "Rival"}},
	}}
	day := string(clickhouse.DayOf(warehouse.Day))
	all, err := texts(t.Context(), conn, brand, Window{day, day})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || len(all[0].Suggestions) != 1 || len(all[1].Suggestions) != 0 {
		t.Fatalf("found %+v", all)
	}
	s := all[0].Suggestions[0]
	evidence, err := json.Marshal(s.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"name":"Nova","answers":6,"leading_answers":6,"beside_tracked":6,"prompts":3,` +
		`"platforms":["openai"],"cards":8,"open":"name=Nova","listed_answers":7}`
	if s.Key != "nova" || s.Score != 85.7 || string(evidence) != want {
		t.Errorf("%+v, evidence %s", s, evidence)
	}
	reasons := fmt.Sprint(all[0].Reasons)
	if reasons != "[{competitor not_english 6 7} {competitor too_few_prompts 3 10}]" {
		t.Errorf("reasons %s", reasons)
	}
}

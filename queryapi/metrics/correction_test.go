package metrics

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// correct rereads answers of the first brand as facts have them.
func (s *stage) correct(t *testing.T, facts ...answerFact) {
	t.Helper()
	snapshot := s.snapshot(t, s.brands[0])
	records := make([]*event.Answer, len(facts))
	for i, f := range facts {
		records[i] = f.record(t, s, snapshot)
	}
	s.reread(t, s.brands[0], records)
	s.callCards(t)
}

// reread gives answers of a brand that landed another reading, that of records with their ids: in one insert for each a
// row that takes back its last reading and one with the new. How a record is read is taken from a copy that lands under
// a brand which no test asks about.
func (s *stage) reread(t *testing.T, slug string, records []*event.Answer) {
	t.Helper()
	organization, brand, unasked := records[0].OrganizationID, s.id(slug), idOf("unasked", s.ids[slug])
	copies := make([]*event.Answer, len(records))
	for i, record := range records {
		copied := *record
		copied.OrganizationID, copied.Brand.ID = unasked, unasked
		copies[i] = &copied
	}
	s.append(t, copies)
	s.corrections++
	execAt(t, s.shard(t), fmt.Sprintf(`
		INSERT INTO `+s.warehouse.Local("answers")+`
		WITH copies AS (SELECT * FROM answers WHERE brand_id = '%[3]s')
		SELECT * REPLACE (-1 AS sign)
		FROM (SELECT * FROM answers WHERE brand_id = '%[2]s' AND sign = 1 ORDER BY revision DESC LIMIT 1 BY id)
		WHERE id IN (SELECT id FROM copies)
		UNION ALL
		SELECT * REPLACE (
			toUUID('%[1]s') AS organization_id, toUUID('%[2]s') AS brand_id, %[4]d AS revision,
			arrayMap(m -> if(m = toUUID('%[3]s'), toUUID('%[2]s'), m), cards.matched_id) AS `+"`cards.matched_id`"+`)
		FROM copies
		SETTINGS distributed_product_mode = 'global'`, organization, brand, unasked, 1000+s.corrections))
	for n := range s.warehouse.Shards() {
		shard, err := s.warehouse.Shard(n)
		if err != nil {
			t.Fatal(err)
		}
		execAt(t, shard, fmt.Sprintf("DELETE FROM %s WHERE brand_id = '%s'", s.warehouse.Local("answers"), unasked))
	}
}

func (s *stage) exec(t *testing.T, statement string) {
	t.Helper()
	execAt(t, s.warehouse, statement)
}

func execAt(t *testing.T, at *clickhouse.Conn, statement string) {
	t.Helper()
	if err := at.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// cardIDs gives the id of the product in a place of an answer, from 1, by the names of callCards.
func (s *stage) cardIDs(t *testing.T) func(answer uuid.UUID, place int) string {
	t.Helper()
	number := map[string]string{}
	for name, id := range s.ids {
		if n, ok := strings.CutPrefix(name, "answer-"); ok {
			number[id] = n
		}
	}
	return func(answer uuid.UUID, place int) string {
		return s.ids[fmt.Sprintf("card-%s-%d", number[answer.String()], place)]
	}
}

// callCards gives the answers that have products, and these, their names: $answer-1, $card-1-1.
func (s *stage) callCards(t *testing.T) {
	t.Helper()
	var ids []string
	for _, slug := range s.brands {
		ids = append(ids, "'"+s.ids[slug]+"'")
	}
	rows, err := s.warehouse.Query(t.Context(), `
		SELECT toString(id), toUInt64(sample), toUInt64(place), toString(reinterpretAsUUID(sipHash128(id, place)))
		FROM answers ARRAY JOIN arrayEnumerate(cards.position) AS place
		WHERE brand_id IN (`+strings.Join(ids, ", ")+`)`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var answer, card string
		var number, place uint64
		if err := rows.Scan(&answer, &number, &place, &card); err != nil {
			t.Fatal(err)
		}
		s.ids[fmt.Sprintf("answer-%d", number)] = answer
		s.ids[fmt.Sprintf("card-%d-%d", number, place)] = card
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// keepCursor gives the cursor of a body that has one its name.
func (s *stage) keepCursor(t *testing.T, body string) {
	t.Helper()
	var page struct {
		Next *string `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(body), &page); err == nil && page.Next != nil {
		s.ids["next"] = *page.Next
	}
}

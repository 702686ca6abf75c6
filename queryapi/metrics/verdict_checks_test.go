package metrics

import (
	"testing"
	"time"

	"github.com/answerscope/answerscope/sql/postgres"
)

// Two nights of all organizations. Signs: 200 + 160 quarters (18,000 + 14,400 looks), 4 + 5 alarmed: a night 4.5 of
// 180, 2.5 %. Days: 1.5 of 180, 0.8 %: the larger rate is published for reach brand. Wilson's intervals, with z² =
// 3.8415: 4.5 of 180: (0.025 + 3.8415/360 ± 1.96·√(0.025·0.975/180 + 3.8415/129,600))/1.02134 = (3.493 ± 2.465) %, so
// 1.0 to 6.0. A night 29 days ago is not in them.
func TestVerdictChecks(t *testing.T) {
	t.Parallel()
	s := newService(t).stage(t)
	s.organization(t, "acme")
	const target = "/api/v1/verdict-checks"
	const nothing = `{"nights":0,"false_alarms":{"brand":null,"prompts":null},"checks":[],"held":[]}`
	if status, body := s.get(t, "acme", target); status != 200 || body != nothing {
		t.Errorf("before the first check: %d %s", status, body)
	}
	check := func(relabelling, reach string, rows, alarms int) postgres.VerdictCheck {
		return postgres.VerdictCheck{Relabelling: relabelling, Reach: reach, Rows: rows, Looks: 90 * rows,
			AlarmedLooks: 2 * alarms, AlarmedRowQuarters: alarms}
	}
	moved := check("none", "brand", 160, 20)
	moved.Moves, moved.HeldMoves = 12, 11
	for night, checks := range map[int][]postgres.VerdictCheck{
		1:  {check("signs", "brand", 160, 5), check("days", "brand", 160, 0), moved},
		28: {check("signs", "brand", 200, 4), check("days", "brand", 200, 3), check("days", "prompts", 0, 0)},
		29: {check("signs", "brand", 500, 400)},
	} {
		day := today.Add(-time.Duration(night) * 24 * time.Hour)
		if err := s.db.StoreVerdictChecks(t.Context(), day, checks); err != nil {
			t.Fatal(err)
		}
	}
	const want = `{"nights":2,"false_alarms":{"brand":{"rate_pct":2.5,"low":1,"high":6,"row_quarters":180},` +
		`"prompts":null},` +
		`"checks":[` +
		`{"relabelling":"signs","reach":"brand","nights":2,"rows":360,"looks":32400,"alarmed_looks":18,` +
		`"row_quarters":180,"alarmed_row_quarters":9,"rate_pct":2.5,"low":1,"high":6},` +
		`{"relabelling":"days","reach":"brand","nights":2,"rows":360,"looks":32400,"alarmed_looks":6,` +
		`"row_quarters":180,"alarmed_row_quarters":3,"rate_pct":0.8,"low":0.2,"high":3.5},` +
		`{"relabelling":"days","reach":"prompts","nights":1,"rows":0,"looks":0,"alarmed_looks":0,"row_quarters":0,` +
		`"alarmed_row_quarters":0,"rate_pct":null,"low":null,"high":null},` +
		`{"relabelling":"none","reach":"brand","nights":1,"rows":160,"looks":14400,"alarmed_looks":40,` +
		`"row_quarters":160,"alarmed_row_quarters":20,"rate_pct":12.5,"low":8.2,"high":18.5}],` +
		`"held":[{"reach":"brand","moves":12,"held_moves":11,"rate_pct":91.7,"low":64.6,"high":98.5}]}`
	if status, body := s.get(t, "acme", target); status != 200 || body != want {
		t.Errorf("%d %s\nwant %s", status, body, want)
	}
	const held = "reach,moves,held_moves,rate_pct,low,high\r\nbrand,12,11,91.7,64.6,98.5\r\n"
	if r := s.ask(t, "GET", target+"?table=held", s.bearer("acme"), wantCSV); r.body != held {
		t.Errorf("CSV %q, want %q", r.body, held)
	}
	if status, body := s.get(t, "acme", target+"?brand_id=x"); status != 400 {
		t.Errorf("with a brand: %d %s", status, body)
	}
}

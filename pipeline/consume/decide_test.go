package consume

import (
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		state
		next int64
		plan *Plan
		stop string
	}{
		"fresh":                          {state: state{committed: -1, end: 10}, next: 0},
		"never read and already trimmed": {state: state{committed: -1, first: 4, end: 10}, next: 4},
		"committed":                      {state: state{committed: 7, end: 10}, next: 7},
		"committed at the end":           {state: state{committed: 10, end: 10}, next: 10},
		"group forgotten, rows landed":   {state: state{committed: -1, end: 10, landed: 5, hasLanded: true}, next: 6},
		"open plan": {state: state{committed: 3,
			metadata: `{"last":5,"shard":0,"extract_version":1}`, end: 10, landed: 5, hasLanded: true}, next: 3,
			plan: &Plan{Last: 5, ExtractVersion: 1}},
		"committed beyond the log": {state: state{committed: 11, end: 10}, stop: "replaced"},
		"landed beyond the log": {state: state{committed: 2, end: 10, landed: 10, hasLanded: true},
			stop: "replaced"},
		"committed expired": {state: state{committed: 2, first: 3, end: 10}, stop: "2 to 2 are gone"},
		"landed and the next expired": {state: state{committed: -1, first: 8, end: 10, landed: 5, hasLanded: true},
			stop: "6 to 7 are gone"},
		"plan reaches beyond the log": {state: state{committed: 3, metadata: `{"last":10}`, end: 10},
			stop: "not whole"},
		"plan that is no JSON": {state: state{committed: 3, metadata: "x", end: 10}, stop: "read plan"},
		"plan that ends before it begins": {state: state{committed: 3, metadata: `{"last":2}`, end: 10},
			stop: "ends before"},
		"empty log, group forgot, landed": {state: state{committed: -1, end: 0, landed: 0, hasLanded: true},
			stop: "replaced"},
		"trimmed up to the committed end": {state: state{committed: 10, first: 10, end: 10}, next: 10},
		"everything landed, group forgot": {state: state{committed: -1, first: 0, end: 6, landed: 5, hasLanded: true},
			next: 6},
		"plan of one record": {state: state{committed: 9, metadata: `{"last":9}`, end: 10}, next: 9,
			plan: &Plan{Last: 9}},
		"commit went back": {state: state{committed: 3, end: 10, landed: 8, hasLanded: true},
			stop: "set it to 9"},
		"commit went back to a plan": {state: state{committed: 3, metadata: `{"last":5}`, end: 10, landed: 8,
			hasLanded: true}, stop: "set it to 9"},
		"commit went back by one": {state: state{committed: 8, end: 10, landed: 8, hasLanded: true},
			stop: "set it to 9"},
	} {
		t.Run(name, func(t *testing.T) {
			at, stop := decide(c.state)
			if c.stop != "" {
				if !strings.Contains(stop, c.stop) {
					t.Fatalf("decide() = %+v, %q; want a stop saying %q", at, stop, c.stop)
				}
				return
			}
			if stop != "" || at.next != c.next || (at.plan == nil) != (c.plan == nil) ||
				c.plan != nil && *at.plan != *c.plan {
				t.Errorf("decide() = %+v %+v, %q; want %d %+v", at, at.plan, stop, c.next, c.plan)
			}
		})
	}
}

func TestABatchEndsBeforeOneMonthTooMany(t *testing.T) {
	b := &builder[int]{limits: Limits{Records: 100, Bytes: 1000}}
	for month := range maxMonths {
		r := Record{Offset: int64(month), Value: []byte("v")}
		if !b.fits(1, month) {
			t.Fatalf("month %d does not fit", month)
		}
		b.add(&r, month, month)
	}
	if b.fits(1, maxMonths) {
		t.Errorf("month %d fits", maxMonths+1)
	}
	if !b.fits(1, 2) {
		t.Error("a month that the batch touches does not fit")
	}
	if b.fits(998, 2) {
		t.Error("more than the bytes fit")
	}
}

func FuzzReadPlan(f *testing.F) {
	f.Add(int64(3), `{"last":5,"shard":0,"extract_version":1}`)
	f.Add(int64(0), "")
	f.Fuzz(func(t *testing.T, first int64, metadata string) {
		p, err := readPlan(first, metadata)
		if err == nil && p != nil && p.Last < first {
			t.Errorf("a plan %+v that ends before %d", p, first)
		}
		if p != nil {
			parsed, err := readPlan(first, p.metadata())
			if err != nil || *parsed != *p {
				t.Errorf("%+v came back as %+v, %v", p, parsed, err)
			}
		}
	})
}

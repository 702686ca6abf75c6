package upkeep_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/testkit/store"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// A checked is an installation with answers of every day up to yesterday.
type checked struct {
	db        *postgres.DB
	warehouse *clickhouse.Conn
	verdicts  *upkeep.Verdicts
}

func newChecked(t testing.TB) *checked {
	t.Helper()
	c := &checked{
		db:        store.OpenControlPlane(t, store.ControlPlane(t)),
		warehouse: store.OpenWarehouse(t, store.Warehouse(t)),
	}
	c.verdicts = upkeep.NewVerdicts(c.db, c.warehouse, func() time.Time {
		return day
	}, slog.New(slog.NewTextHandler(t.Output(), nil)))
	return c
}

// addBrand adds a brand to an organization, with an answer a day to each prompt on each platform. mentioned is SQL:
// does an answer name the brand on a day, where n is the number of days until yesterday?
func (c *checked) addBrand(t testing.TB, organization, slug string, prompts, platforms, days int, mentioned string) {
	t.Helper()
	o, err := c.db.OrganizationBySlug(t.Context(), organization)
	if errors.Is(err, postgres.ErrNotFound) {
		o, err = c.db.AddOrganization(t.Context(), organization, organization)
	}
	if err != nil {
		t.Fatal(err)
	}
	brand := uuid.NewV5(uuid.NamespaceDNS, slug) // relabelling is drawn from the id
	if _, err := c.db.Exec(t.Context(), "INSERT INTO public.brands (id, organization_id, name, slug) "+
		"VALUES ($1, $2, $3, $3)", brand, o.ID, slug); err != nil {
		t.Fatal(err)
	}
	if err := c.warehouse.Exec(t.Context(), fmt.Sprintf(`
		INSERT INTO brand_prompt_daily (organization_id, brand_id, prompt_id, platform, day, runs, answers,
			mention_answers)
		SELECT '%[1]s', '%[2]s', toUUID(leftPad(toString(number %% %[3]d), 32, '0')),
			concat('platform-', toString(intDiv(number, %[3]d) %% %[4]d)),
			toDate('%[6]s') - 1 - (intDiv(number, %[3]d * %[4]d) AS n), 1, 1, %[7]s
		FROM numbers(%[3]d * %[4]d * %[5]d)`,
		o.ID, brand, prompts, platforms, days, day.Format(time.DateOnly), mentioned)); err != nil {
		t.Fatal(err)
	}
}

// Two organizations have an active brand of 60 days each, which is 5 looks at the brand and at each of two platforms; a
// third brand is not active, a fourth has 55 days, and canary panels are no brands. One active brand lost all of its
// mentions 15 days ago: the 15 looks at it see that, unless its answers are relabelled.
func TestVerdictsOfAllBrandsAreChecked(t *testing.T) {
	t.Parallel()
	c := newChecked(t)
	const noise = "cityHash64(number, 5) % 2"
	c.addBrand(t, "acme", "lumen", 8, 2, 60, noise)
	c.addBrand(t, "acme", "away", 8, 2, 60, noise)
	c.addBrand(t, "rival", "glow", 8, 2, 60, "n >= 15 AND cityHash64(number) % 8 > 0")
	c.addBrand(t, "rival", "young", 8, 2, 55, noise)
	_, err := c.db.Exec(t.Context(), "UPDATE public.brands SET is_active = false WHERE slug = 'away'")
	must(t, err)
	must(t, c.db.AskPanel(t.Context(), nil, nil))
	c.addBrand(t, "canary-panel", "second-panel", 8, 2, 60, noise)

	steps := []int{}
	counts, err := c.verdicts.Check(t.Context(), func(done, total int) { steps = append(steps, done, total) })
	must(t, err)
	if !reflect.DeepEqual(steps, []int{1, 3, 2, 3, 3, 3}) {
		t.Errorf("steps %v", steps)
	}
	alarms := map[string]int{}
	for _, n := range counts {
		alarms[n.Relabelling] += n.AlarmedLooks
		if n.Rows != 6 || n.Looks != 30 || n.RowQuarters != 30.0/90 {
			t.Errorf("%+v, want 30 looks at 6 rows", n)
		}
	}
	if alarms["none"] != 15 || alarms["signs"]+alarms["days"] > 0 {
		t.Errorf("alarms %v, want 15 of the answers as they came", alarms)
	}

	yesterday := day.AddDate(0, 0, -1)
	for range 2 {
		stored, err := c.db.VerdictChecks(t.Context(), yesterday, yesterday)
		must(t, err)
		if len(stored) != 5 || !reflect.DeepEqual(stored[0], counts[0]) {
			t.Errorf("stored %+v, counted %+v", stored, counts)
		}
		must(t, c.verdicts.Nightly(t.Context())) // the same night again replaces itself
	}
}

// A check beside another one is refused, at night silently, and one that was interrupted has stored nothing.
func TestOneProcessChecksVerdicts(t *testing.T) {
	t.Parallel()
	c := newChecked(t)
	c.addBrand(t, "acme", "lumen", 5, 1, 60, "1")
	c.addBrand(t, "acme", "glow", 5, 1, 60, "1")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.verdicts.Check(ctx, func(int, int) {
		if _, err := c.verdicts.Check(t.Context(), nil); !errors.Is(err, upkeep.ErrChecking) {
			t.Errorf("a second check: %v", err)
		}
		must(t, c.verdicts.Nightly(t.Context()))
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if stored, err := c.db.VerdictChecks(t.Context(), day.AddDate(0, 0, -9), day); err != nil || len(stored) > 0 {
		t.Errorf("stored %+v, %v", stored, err)
	}
	must(t, c.verdicts.Nightly(t.Context()))
}

// BenchmarkVerdicts checks brands of 25 prompts on three platforms, which have four rows of 90 looks each.
func BenchmarkVerdicts(b *testing.B) {
	c := newChecked(b)
	const brands = 10
	for i := range brands {
		c.addBrand(b, "acme", fmt.Sprint("brand-", i), 25, 3, 173, fmt.Sprintf("cityHash64(number, %d) %% 2", i))
	}
	for b.Loop() {
		if err := c.verdicts.Nightly(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(200/brands*b.Elapsed().Seconds()/float64(b.N), "s/200-brands")
}

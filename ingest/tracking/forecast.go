package tracking

import (
	"cmp"
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// forecastDays is how far a forecast reaches.
const forecastDays = 30

// Forecast is what a brand's schedule will ask in the days after today, at the usual cost of an answer.
type Forecast struct {
	Days    []ForecastDay `json:"days"`
	Runs    int           `json:"runs"`
	Cost    *json.Number  `json:"cost"`    // null: a price is not known
	Refused []Refusal     `json:"refused"` // scheduled platforms that cannot be asked now
}

// ForecastDay is the expected cost of a platform on a UTC day.
type ForecastDay struct {
	Date     string       `json:"date"`
	Platform string       `json:"platform"`
	Runs     int          `json:"runs"`
	Cost     *json.Number `json:"cost"`

	sum *big.Rat // nil: a price is not known
}

// Forecast drafts the job of each scheduled platform as of now, and repeats it in the slots of the next 30 days.
func (j *Jobs) Forecast(ctx context.Context, brand postgres.Brand, now time.Time) (Forecast, error) {
	f := Forecast{Days: []ForecastDay{}, Refused: []Refusal{}}
	schedules, err := j.schedules(ctx, brand, now)
	if err != nil {
		return f, err
	}
	total := new(big.Rat)
	for _, s := range schedules {
		draft, err := j.Draft(ctx, brand, Request{}, []Target{{s.Platform, s.Model, now}}, now)
		if kind, public := problem.Of(err); err != nil {
			if kind != problem.Invalid {
				return f, err
			}
			f.Refused = append(f.Refused, Refusal{Platform: s.Platform, Reason: public})
			continue
		}
		estimate := draft.Estimate()
		f.Refused = append(f.Refused, estimate.Refused...)
		if estimate.Runs > 0 {
			for _, day := range checkDays(s, now) {
				f.add(day, s.Platform, estimate.Runs, estimate.sum)
				total = plus(total, estimate.sum)
			}
		}
	}
	slices.SortFunc(f.Days, func(a, b ForecastDay) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Platform, b.Platform))
	})
	for i := range f.Days {
		f.Days[i].Cost = amount(f.Days[i].sum)
		f.Runs += f.Days[i].Runs
	}
	f.Cost = amount(total)
	return f, nil
}

// add adds the runs of one check; a cost of nil is not known.
func (f *Forecast) add(date, platform string, runs int, cost *big.Rat) {
	i := slices.IndexFunc(f.Days, func(d ForecastDay) bool { return d.Date == date && d.Platform == platform })
	if i < 0 {
		i = len(f.Days)
		f.Days = append(f.Days, ForecastDay{Date: date, Platform: platform, sum: new(big.Rat)})
	}
	f.Days[i].Runs += runs
	f.Days[i].sum = plus(f.Days[i].sum, cost)
}

// checkDays returns the UTC day of each check of a schedule in the days after today.
func checkDays(s postgres.ScheduledPlatform, now time.Time) (days []string) {
	zone, err := time.LoadLocation(s.TimeZone)
	if err != nil {
		zone = time.UTC // this machine does not know it
	}
	today := now.UTC().Format(time.DateOnly)
	last := now.UTC().AddDate(0, 0, forecastDays).Format(time.DateOnly)
	for slot := slotStart(s.CheckFrequency, now, zone); ; slot = nextSlot(s.CheckFrequency, slot, zone) {
		day := slot.Add(brandOffset(s.BrandID)).UTC().Format(time.DateOnly)
		if day > last {
			return days
		}
		if day > today {
			days = append(days, day)
		}
	}
}

func plus(a, b *big.Rat) *big.Rat {
	if a == nil || b == nil {
		return nil
	}
	return new(big.Rat).Add(a, b)
}

func amount(r *big.Rat) *json.Number {
	if r == nil {
		return nil
	}
	return new(json.Number(postgres.Decimal(r)))
}

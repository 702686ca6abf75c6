package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/verdict"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The hours, UTC, in which yesterday is judged. A day that is not complete by then is never judged.
const (
	firstHour = 1
	lastHour  = 22
)

const maxMoves = 20 // of an event

// Hourly judges yesterday for each brand whose answers of it are complete. A day of a brand is judged once, by any
// number of processes.
func (r *Reporter) Hourly(ctx context.Context) error {
	now := r.now().UTC()
	if now.Hour() < firstHour || now.Hour() > lastHour {
		return nil
	}
	day := verdict.DayOf(now) - 1
	brands, err := r.db.BrandsToJudge(ctx, day.Time())
	answered, answeredErr := r.answered(ctx, brands, day)
	errs := []error{err, answeredErr}
	for _, b := range brands {
		if !answered[b.ID] {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		errs = append(errs, r.judge(ctx, b, day)) // what concerns a brand alone must not stop the others
	}
	return errors.Join(errs...)
}

// answered returns the brands that have answers of a day. It asks once an organization, since those without are looked
// at each hour. An organization whose query fails has none, and stops no other.
func (r *Reporter) answered(ctx context.Context, brands []postgres.Brand, day verdict.Day) (map[uuid.UUID]bool, error) {
	byOrganization := map[uuid.UUID][]clickhouse.UUID{}
	for _, b := range brands {
		byOrganization[b.OrganizationID] = append(byOrganization[b.OrganizationID], clickhouse.UUID(b.ID))
	}
	answered, date := map[uuid.UUID]bool{}, clickhouse.DayOf(day.Time())
	var errs []error
	for organization, ids := range byOrganization {
		rows, err := clickhouse.BrandsTrend.All(ctx, r.conn, clickhouse.BrandsFilter{
			OrganizationID: clickhouse.UUID(organization), Brands: ids, DateFrom: date, DateTo: date})
		errs = append(errs, err)
		for _, row := range rows {
			answered[uuid.UUID(row.BrandID)] = true
		}
	}
	return answered, errors.Join(errs...)
}

func (r *Reporter) judge(ctx context.Context, brand postgres.Brand, day verdict.Day) error {
	basket, err := r.basket(ctx, brand, day-verdict.WatchedDays+1, day, false)
	if err != nil || !basket.HasAnswers(day) {
		return err
	}
	rows, err := r.db.NewestEpisodes(ctx, brand.ID)
	if err != nil {
		return err
	}
	var episodes []*verdict.Episode
	for _, row := range rows {
		var e verdict.Episode
		if err := json.Unmarshal(row, &e); err != nil {
			return fmt.Errorf("read episode of brand %s: %w", brand.ID, err)
		}
		episodes = append(episodes, &e)
	}
	watch := verdict.NewWatch(brand.ID.String(), episodes...)
	news, verdicts := watch.Look(basket, day)
	for _, e := range watch.Episodes {
		if e.Opened == day {
			episodes = append(episodes, e)
		}
	}
	judgement := postgres.Judgement{
		OrganizationID: brand.OrganizationID, BrandID: brand.ID, Day: day.Time(),
		Verdicts: verdicts, Episodes: episodes,
	}
	if len(news) > 0 {
		moved, err := r.moved(ctx, brand, day, news)
		if err != nil {
			return err
		}
		judgement.Event = &postgres.Event{
			OrganizationID: brand.OrganizationID, BrandID: brand.ID, Type: feed.VisibilityMoved, Data: moved,
			Key: fmt.Sprintf("%s/%s/%s", feed.VisibilityMoved, brand.ID, moved.Day),
		}
	}
	stored, err := r.db.StoreJudgement(ctx, judgement)
	if stored && err == nil && len(news) > 0 {
		r.log.Info("visibility moved", "brand", brand.Slug, "day", dayText(day), "moves", len(news))
	}
	return err
}

// moved returns the data of the event of a day with news.
func (r *Reporter) moved(
	ctx context.Context, brand postgres.Brand, day verdict.Day, news []verdict.News,
) (feed.Moved, error) {
	w := verdict.WindowTo(day)
	moved := feed.Moved{
		Brand: brandOf(brand), Day: dayText(day), Window: daysOf(w.From, w.To), Before: daysOf(w.First(), w.From-1),
	}
	now, err := r.figures(ctx, brand, w.From, w.To, clickhouse.NoGroups, clickhouse.ByPlatform)
	if err != nil {
		return moved, err
	}
	before, err := r.figures(ctx, brand, w.First(), w.From-1, clickhouse.NoGroups, clickhouse.ByPlatform)
	if err != nil {
		return moved, err
	}
	moved.Simulated, err = r.isSimulated(ctx, brand, w.First(), w.To)
	moved.More = max(0, len(news)-maxMoves)
	for _, n := range news[:min(len(news), maxMoves)] {
		m, row := feed.Move{}, verdict.Row{Entity: brand.ID.String()}
		if n.Platform != "" {
			m.Platform, row.Dimension, row.Key = &n.Platform, verdict.ByPlatform, n.Platform
		}
		m.Judged = judged(n.Judged, now.byRow[row], before.byRow[row])
		m.Verdict = n.Verdict
		moved.Moves = append(moved.Moves, m)
	}
	return moved, err
}

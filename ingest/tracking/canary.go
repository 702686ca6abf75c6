package tracking

import (
	"context"
	"errors"

	"github.com/answerscope/answerscope/sql/postgres"
)

// AskCanary schedules the canary panel on the platforms that its organization can ask: with the keys of the
// environment, as it has none of its own. A panel that was removed is logged once.
func (s *Schedule) AskCanary(ctx context.Context) error {
	platforms, err := s.jobs.availablePlatforms(ctx, postgres.PanelOrganization)
	if err != nil {
		return err
	}
	var available, withKey []string
	for _, p := range platforms {
		if p.Unavailable == "" {
			available = append(available, p.Slug)
			if p.NeedsKey && !isSurface(p.Slug) { // a surface is asked where a brand tracks it
				withKey = append(withKey, p.Slug)
			}
		}
	}
	err = s.db.AskPanel(ctx, available, withKey)
	if errors.Is(err, postgres.ErrNotFound) {
		s.removed.Do(func() {
			s.log.Warn("the canary panel was removed, and is not asked", "next", "set ANSWERSCOPE_CANARY=off")
		})
		return nil
	}
	return err
}

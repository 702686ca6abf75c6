package migration

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// ownerTimeout is how long the owner of joined engines may take to bring its stores up: they can be joined as soon as
// they run.
const ownerTimeout = 30 * time.Second

// Ensure brings up those of the selected stores that this process has started, and refuses to work on others that are
// behind; newer ones it leaves as they are. For those of joined engines it waits until their owner has brought them up.
func (m *Migrator) Ensure(ctx context.Context, in, started Stores, joined bool) error {
	waiting, done := context.WithTimeout(ctx, ownerTimeout)
	defer done()
	for {
		steps, err := m.Pending(ctx, in)
		if err != nil {
			return err
		}
		if started != (Stores{}) {
			if err := m.Migrate(ctx, started, steps); err != nil {
				return err
			}
		}
		behind := slices.IndexFunc(steps, func(s Step) bool { return !started.Has(s) })
		if behind < 0 {
			m.WarnNewer()
			return nil
		}
		if joined && lifecycle.Pause(waiting, 200*time.Millisecond) == nil {
			continue
		}
		return fmt.Errorf("%s is behind this binary (%s is pending); run: answerscope migrate", steps[behind].Store, steps[behind].Name)
	}
}

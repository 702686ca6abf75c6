package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline/upkeep"
)

// migrateCmd brings up what records and rows are kept in.
type migrateCmd struct {
	Check bool `help:"Change nothing; print what is pending and exit 1 if anything is."`
	JSON  bool `name:"json" help:"One JSON object a line."`
	usersDirFlag
}

// errPending is the result of `migrate --check` with pending steps.
var errPending = errors.New("migrations are pending; run: answerscope migrate")

func (c *migrateCmd) Run(ctx context.Context, p *process) error {
	if err := p.Settings.Validate(); err != nil {
		return usageError{err}
	}
	e, err := p.Open(ctx, service.Everything, false, "")
	if err != nil {
		return err
	}
	migrator := e.Migrator()
	migrator.Growing = true
	steps, err := migrator.Pending(ctx, service.Everything)
	switch {
	case err != nil:
	case migrator.Newer != nil:
		err = fmt.Errorf("%w; run that release, or a later one", migrator.Newer)
	case c.Check:
		if err = printList(p, c.JSON, steps, upkeep.Step.String); err == nil && len(steps) > 0 {
			err = errPending
		}
	default:
		if err = migrator.Migrate(ctx, service.Everything, steps); err == nil {
			err = p.RenewAnalysts(c.usersDir(p))
		}
	}
	return errors.Join(err, e.Close())
}

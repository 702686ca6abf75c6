package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi/identity"
)

type secretsCmd struct {
	Rotate secretsRotate `cmd:"" help:"Encrypt every secret in the database with the first of ANSWERSCOPE_SECRET_KEYS."`
}

type secretsRotate struct {
	JSON bool `name:"json" help:"One JSON document."`
}

func (c *secretsRotate) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		ring, err := on.Settings.SecretRing()
		if err == nil && !ring.IsSet() {
			err = errors.New("ANSWERSCOPE_SECRET_KEYS is missing: want the new key in front of the old ones, id:base64,id:base64…")
		}
		if err != nil {
			return usageError{err}
		}
		resealed, err := identity.Reseal(ctx, on.DB, ring)
		keys, keysErr := tracking.ResealKeys(ctx, on.DB, ring)
		resealed += keys
		if err := errors.Join(err, keysErr); err != nil {
			return fmt.Errorf("%d secrets encrypted, others not: %w", resealed, err)
		}
		return p.printResult(c.JSON, map[string]int{"encrypted": resealed}, fmt.Sprintf("%d secrets encrypted", resealed))
	})
}

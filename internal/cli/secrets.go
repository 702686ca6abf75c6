package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/answerscope/answerscope/ingest/tracking"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/queryapi/identity"
)

type secretsCmd struct {
	Rotate secretsRotate `cmd:"" help:"Encrypt every secret in the database with the first of ANSWERSCOPE_SECRET_KEYS."`
}

type secretsRotate struct {
	JSON bool `name:"json" help:"One JSON document."`
}

func (c *secretsRotate) Run(ctx context.Context, p *process) error {
	return p.with(ctx, onlyControl, func(ctx context.Context, on *engines) error {
		ring, err := on.ring()
		if err == nil && !ring.IsSet() {
			err = errors.New("ANSWERSCOPE_SECRET_KEYS is missing: want the new key in front of the old ones, id:base64,id:base64…")
		}
		if err != nil {
			return usageError{err}
		}
		resealed, err := identity.Reseal(ctx, on.db, ring)
		keys, keysErr := tracking.Reseal(ctx, on.db, ring)
		resealed += keys
		if err := errors.Join(err, keysErr); err != nil {
			return fmt.Errorf("%d secrets encrypted, others not: %w", resealed, err)
		}
		return p.printResult(c.JSON, map[string]int{"encrypted": resealed}, fmt.Sprintf("%d secrets encrypted", resealed))
	})
}

// ring are the keys of what the database has encrypted. Beside an embedded database they are in a file; for one that
// other machines use they must be given.
func (p *process) ring() (secret.Ring, error) {
	if p.settings.SecretKeys.IsSet() {
		return secret.ParseRing(p.settings.SecretKeys.Reveal())
	}
	if p.settings.Postgres.IsSet() {
		return secret.Ring{}, nil
	}
	return secret.FileRing(p.secretKeysFile())
}

func (p *process) secretKeysFile() string { return filepath.Join(p.settings.DataDir, "secret-keys") }

package postgres

import (
	"context"
	"errors"
)

// sealedValue is an encrypted value, with the name that it is bound to.
type sealedValue struct {
	Name   string `db:"name"`
	Sealed string `db:"sealed"`
}

// Reseal replaces every encrypted value by the one that reseal returns for it and its name, and counts them. A value
// that reseal refuses stays, and the error names it.
func (db *DB) Reseal(
	ctx context.Context, reseal func(sealed, name string) (string, error),
) (resealed int, err error) {
	values, err := queryAll[sealedValue](ctx, db, "sealed")
	errs := []error{err}
	for _, v := range values {
		sealed, err := reseal(v.Sealed, v.Name)
		if err == nil {
			err = exec(ctx, db, "reseal", v.Sealed, sealed)
		}
		if err == nil {
			resealed++
		}
		errs = append(errs, err)
	}
	return resealed, errors.Join(errs...)
}

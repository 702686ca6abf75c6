package extract

import "github.com/gofrs/uuid/v5"

// id is entity n of a test.
func id(n int) uuid.UUID {
	return uuid.UUID{15: byte(n + 1)}
}

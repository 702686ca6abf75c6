package sink

import "errors"

// errMany ends a hunt that has found as much as one may.
var errMany = errors.New("more records are refused than one search looks for")

// A hunt finds which of many things are refused, each on its own, by trying halves.
type hunt[T any] struct {
	try     func([]T) error       // nil when all of them are taken
	refused func(err error) bool  // else the try told nothing
	found   func(one T, by error) // is told each, in order
	most    int                   // of those that are found
}

// among looks for them among things that are refused together, one after the other:
// each costs as many tries as it can be halved, and one of all that is behind it.
func (h *hunt[T]) among(rest []T) error {
	for len(rest) > 0 {
		at, by, err := h.first(rest)
		switch {
		case err != nil:
			return err
		case by == nil:
			return nil // together they are refused, and none of them alone
		case h.most == 0:
			return errMany
		}
		h.most--
		h.found(rest[at], by)
		rest = rest[at+1:]
		if len(rest) > 0 {
			if by, err = h.verdict(rest); err != nil || by == nil {
				return err
			}
		}
	}
	return nil
}

// first is the place of the first one that is refused among things that are refused
// together, with its refusal; by is nil when that one is taken alone.
func (h *hunt[T]) first(all []T) (at int, by, err error) {
	for len(all) > 1 {
		half := len(all) / 2
		if by, err = h.verdict(all[:half]); err != nil {
			return 0, nil, err
		}
		if by != nil {
			all = all[:half]
		} else {
			all, at = all[half:], at+half
		}
	}
	by, err = h.verdict(all)
	return at, by, err
}

// verdict tells a refusal from a try that told nothing.
func (h *hunt[T]) verdict(some []T) (by, err error) {
	err = h.try(some)
	if err != nil && h.refused(err) {
		return err, nil
	}
	return nil, err
}

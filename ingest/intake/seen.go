package intake

import "github.com/gofrs/uuid/v5"

// seen is a set of the last ids. The sink drops a repeated answer whose id is no longer in the set; only the summary
// then counts it as imported and not as skipped.
type seen struct {
	ids    map[uuid.UUID]struct{}
	oldest []uuid.UUID // a ring, once it is full
	at     int
	most   int
}

func newSeen(most int) *seen {
	return &seen{ids: map[uuid.UUID]struct{}{}, most: most}
}

// add adds an id and reports whether it is new.
func (s *seen) add(id uuid.UUID) bool {
	if _, there := s.ids[id]; there {
		return false
	}
	if len(s.oldest) < s.most {
		s.oldest = append(s.oldest, id)
	} else {
		delete(s.ids, s.oldest[s.at])
		s.oldest[s.at] = id
		s.at = (s.at + 1) % s.most
	}
	s.ids[id] = struct{}{}
	return true
}

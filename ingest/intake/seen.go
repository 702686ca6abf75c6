package intake

import "github.com/gofrs/uuid/v5"

// seen remembers the last ids that it was told. What it forgets is still
// counted once, since the sink drops it: only the report of a file whose equal
// lines lie further apart calls it imported and not skipped.
type seen struct {
	ids    map[uuid.UUID]struct{}
	oldest []uuid.UUID // a ring, once it is full
	at     int
	most   int
}

func newSeen(most int) *seen {
	return &seen{ids: map[uuid.UUID]struct{}{}, most: most}
}

// add tells whether id is new, and remembers it.
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

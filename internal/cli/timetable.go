package cli

import "github.com/answerscope/answerscope/internal/timetable"

// openTimetable makes the timetable of a service, which runs once its part is added.
func openTimetable(s *service) (err error) {
	lead := s.db.NewLeader("timetable")
	s.onClose("lead of the timetable", lead.Close)
	s.chores, err = timetable.New(timetable.DefaultConfig(), lead, s.db.NewChores(), s.metrics, s.log)
	return err
}

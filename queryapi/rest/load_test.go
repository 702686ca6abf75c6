package rest

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestALoginThatIsRefusedIsLoggedOnceAMinute(t *testing.T) {
	begin := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	refused, away := errors.New("password authentication failed"), errors.New("connection refused")
	var last loggedFailure
	var logged []int
	for second := range 130 {
		err := refused
		if second == 30 {
			err = away
		}
		if last.due(err, begin.Add(time.Duration(second)*time.Second)) {
			logged = append(logged, second)
		}
	}
	if want := []int{0, 30, 31, 91}; !slices.Equal(logged, want) {
		t.Errorf("logged at seconds %v, want %v", logged, want)
	}
}

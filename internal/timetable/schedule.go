package timetable

import (
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// A Schedule says when a task is due.
type Schedule struct {
	times gocron.JobDefinition
	daily bool
}

// Daily is once a day, at hour:minute; and at once, if it last succeeded more than a day ago.
func Daily(hour, minute uint) Schedule {
	return Schedule{gocron.CronJob(fmt.Sprintf("%d %d * * *", minute, hour), false), true}
}

// Hourly is once an hour, at a minute of it.
func Hourly(minute uint) Schedule {
	return Schedule{gocron.CronJob(fmt.Sprintf("%d * * * *", minute), false), false}
}

// Interval is every d, the first time d after the start.
func Interval(d time.Duration) Schedule { return Schedule{gocron.DurationJob(d), false} }

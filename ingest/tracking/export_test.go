package tracking

import "time"

// SetSilence sets after how long without a sign of life a worker's job is given to another one.
func (j *Jobs) SetSilence(silence time.Duration) { j.beatInterval, j.silence = silence/8, silence }

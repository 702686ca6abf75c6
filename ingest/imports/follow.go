package imports

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/answerscope/answerscope/internal/lifecycle"
)

// The first and the longest pause before a follower tries again because an engine is away.
const leastRetry, mostRetry = time.Second, 30 * time.Second

// finishTimeout is how long a follower that is stopped waits until Kafka has what it read.
const finishTimeout = 10 * time.Second

// FollowAccessLog imports a file, and those that take its name when it is rotated, until ctx ends, which is no error. progress
// is called with the bytes that were read of all files, retry before each pause because an engine is away.
func (im *Importer) FollowAccessLog(ctx context.Context, name string, of AccessLog, progress func(bytes int64), retry func(err error, pause time.Duration)) (AccessLogSummary, error) {
	all := AccessLogSummary{Refusals: []Refusal{}}
	for before := int64(0); ; {
		file, err := OpenTail(ctx, name)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		read := int64(0)
		summary, err := im.followFile(ctx, file, of, func(bytes int64) { read = bytes; progress(before + bytes) }, retry)
		before += read
		all.add(summary)
		if err := errors.Join(err, file.Close()); err != nil || ctx.Err() != nil {
			return all, err
		}
	}
}

// followFile imports a file until another one has its name. After an engine was away it imports the same file from its
// beginning, whatever its name is by then: what is on the log already is skipped.
func (im *Importer) followFile(ctx context.Context, file *Tail, of AccessLog, progress func(int64), retry func(error, time.Duration)) (AccessLogSummary, error) {
	appending, cancel := lifecycle.Finishing(ctx, finishTimeout)
	defer cancel()
	imported := 0 // by earlier attempts
	for wait := leastRetry; ; wait = min(2*wait, mostRetry) {
		summary, err := im.ImportAccessLog(appending, file, of, progress)
		summary.Imported += imported
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrPacked) {
			return summary, err
		}
		imported = summary.Imported
		retry(err, wait)
		_ = lifecycle.Pause(ctx, wait) // the file ends when ctx has ended
		if err := file.Rewind(); err != nil {
			return summary, err
		}
	}
}

// add adds the counts of another file.
func (s *AccessLogSummary) add(other AccessLogSummary) {
	s.Imported += other.Imported
	s.Skipped += other.Skipped
	s.Refused += other.Refused
	s.Others += other.Others
	s.Refusals = append(s.Refusals, other.Refusals...)
	s.Refusals = s.Refusals[:min(len(s.Refusals), defaultLimits.listed)]
}

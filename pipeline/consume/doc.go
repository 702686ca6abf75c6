// Package consume takes the log to a target, a batch at a time, so that each
// record is counted once whatever crashes.
//
// Kafka delivers at least once. What makes it once is that a batch is planned
// before it is sent: its end is committed as metadata beside its beginning, so
// that whoever takes the partition over repeats exactly that batch, and the
// target knows a repeated batch by its token.
//
//  1. plan: commit offset first with metadata {last, shard, extract_version}
//  2. land: the target takes the batch under Batch.Token
//  3. commit: offset last+1 with empty metadata
//
// A crash before 1 leaves nothing. A crash between 1 and 3, also in the middle
// of 2, is followed by a replay of the same batch under the same token. A
// consumer that lost its partition cannot plan; one that lost it after its plan
// lands the same rows as its successor.
//
// A batch is a contiguous range of offsets of one partition, bounded in records
// and bytes, and touches at most maxMonths months.
package consume

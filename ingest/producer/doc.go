// Package producer appends records to the log: it is where Kafka is written, and
// where its topics are made.
//
// An append returns when every in-sync replica has the record (acks=all), or
// with the reason why that is not known. One request to the broker carries many
// appends: those that come while a batch is under way join the next one, so that
// batches grow with the load and a lone record does not wait. Memory is bounded,
// and so is time: when the broker cannot be reached, an append ends within
// AckTimeout, and before a record joins a batch when too much is waiting already.
//
// A batch whose acknowledgement was lost is sent again to the partition that it
// was sent to before. It may then be on the log twice, which is why readers count
// an id once; they may do so partition by partition, because a retry never moves.
package producer

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
//
// With a spool (Config.Spool), a batch that is not acknowledged soon is kept on
// disk, its appends are answered, and it is sent when the broker is back, by this
// process or the next one, to the same partition. While a partition is known to be
// away its batches are not sent but kept at once. Room on disk is reserved before a
// record joins a batch, as room in memory is, so that none is refused for it later.
// While Kafka is well nothing is written, and the spool costs a look at two counters.
package producer

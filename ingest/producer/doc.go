// Package producer appends records to the log: it is where Kafka is written, and where its topics are created.
//
// The way of a record, file by file: append.go (room is reserved, the record joins a batch), batch.go, send.go (a batch
// goes to its partition), and, while Kafka is away, spill.go (onto disk) and drain.go (from disk to Kafka).
//
// An append returns when every in-sync replica has the record (acks=all), or with the reason why that is not known. One
// request carries many appends: those that come while a batch is being sent join the next one, so that batches grow
// with the load and a lone record does not wait. Memory is bounded, and so is time: while the brokers cannot be
// reached, an append ends within AckTimeout, or at once when too much waits already.
//
// A batch whose acknowledgement was lost is sent again to the same partition. It may then be on the log twice, which is
// why readers count an id once; they may do so partition by partition, because a retry never changes the partition.
//
// With a spool (Config.Spool), a batch of visits that is not acknowledged soon is written to disk with its partition,
// its appends are answered, and it is sent to that partition once the broker is back, by this process or the next one.
// Room on disk is reserved before a record joins a batch, as room in memory is, so that none is refused for it later.
// While Kafka acknowledges in time nothing is written, and the spool costs a look at two counters.
package producer

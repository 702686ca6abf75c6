// Package spool keeps entries on this machine's disk until Kafka has them.
//
// An entry is put, which returns after an fsync that it may share with others; read, in the order of its stream; and
// removed. The next process that opens the directory finds what a killed one leaves: whole entries, each with a
// checksum. A part of an entry at the end of a file was never acknowledged and is cut off; bytes that are wrong
// elsewhere are quarantined in a file of their own, and logged.
//
// Entries lie one after the other in segments, files that are deleted when all their entries are removed. To remove an
// entry, four bytes of it are overwritten without an fsync: a loss of power may bring removed entries back, and never
// takes one away. In memory an entry costs 24 bytes.
//
// Why not github.com/tidwall/wal: a torn tail makes its Open fail, it has no checksums, only its front can be cut,
// where ours are removed in any order, it keeps whole segments in memory, and it syncs no directory.
package spool

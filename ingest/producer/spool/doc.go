// Package spool keeps entries on this machine's disk until somebody else has them.
//
// An entry is put, which returns after an fsync that it may share with others;
// read, in the order of its stream; and removed. What a process leaves behind when
// it is killed, the next one that opens the directory finds: whole entries, each
// with a checksum. An entry of which a part is missing at the end of a file was
// never acknowledged and is cut off; bytes that are wrong otherwise are quarantined in
// a file of their own and said.
//
// Entries lie one after the other in segments, files that are removed when all in
// them is removed. To strike an entry off, four bytes of it are overwritten,
// without an fsync: a loss of power may bring removed entries back, and never takes
// one away. In memory an entry costs 24 bytes.
//
// Why not github.com/tidwall/wal, which does most of this in a library: a torn tail
// makes its Open fail, and nothing in it cuts the tail; it has no checksums, so that
// a page that was not written passes for a record; only its front can be cut, which
// rewrites a segment, where ours are removed in any order, as partitions
// acknowledge; it keeps whole segments in memory, and syncs no directory after it
// has made a file.
package spool

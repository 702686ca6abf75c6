// Package deadletters lists dead letters, and appends them to the log again.
//
// A dead letter is appended to the partition that it came from, as it came, and is marked then, so that it is replayed
// once. A crash between the two appends it again: the sink deduplicates it by its id, on that partition. A record that
// cannot be counted this time either becomes a dead letter again, at its new position.
package deadletters

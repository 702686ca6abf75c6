// Package deadletters lists the records that were put aside, and appends them to the
// log again.
//
// A dead letter goes back to the partition that it came from, as it came, and is
// marked then, so that it goes once. A crash between the two appends it again: an
// answer and a visit are counted once by their ids, and their repetitions are looked
// for on that partition. What still does not land becomes a dead letter anew, at
// its new place.
//
// A record that the server refused waits until the figures of its month were found
// right without it: some rollups may have its row still, and would count it twice.
package deadletters

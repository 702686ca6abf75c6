// Package event is the contract on the log: the records that producers append and consumers read, their topics, keys,
// ids and JSON codec.
//
// A record is one JSON object. Its field v is the version of this contract: a consumer reads its own version and every
// older one, and refuses a newer one with ErrNewer, since a misread fact would be counted wrongly for ever. Timestamps
// are RFC 3339 in UTC with milliseconds.
package event

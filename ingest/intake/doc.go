// Package intake brings answers onto the log: lines of answers captured
// elsewhere (NDJSON), or records that the simulator made, visits among them.
//
// An import is idempotent for ever. An answer's id is made of what identifies
// it (brand, prompt text, platform, model, region, sample, answered_at), so
// importing a file again makes the same ids: those that have landed are left
// out, and one that is on its way, told twice, is dropped by the sink. That is
// also how an import that was killed goes on: it is run again.
//
// A line that cannot be an answer is refused with its number and with what
// would be right, and the rest goes on. What is held at a time is bounded: one
// batch of lines and the ids of the last ones.
//
// Decisions that the format leaves open:
//   - Fields that it does not name are ignored; a field that it names and that
//     is there twice refuses the line, since either value could be meant.
//   - null is the same as absent. An optional text may be empty.
//   - Bytes that are not UTF-8 refuse the line; an escaped half of a surrogate
//     pair becomes U+FFFD, as encoding/json reads it.
//   - An integer may be written 1, 1.0 or 1e0.
//   - Times are kept in milliseconds: what differs by less is the same instant.
//   - An empty text refuses the line unless it has products: no answer was
//     captured.
//   - A citation with an empty url cites nothing and is left out.
//   - A line may say given_up, an error class, with given_up_error, in place of a
//     text: a run that ended without an answer, as an export tells it.
//   - A line of a frozen month, whose raw answers have expired, is refused.
//   - Blank lines, a byte-order mark at the beginning and CRLF are read over.
package intake

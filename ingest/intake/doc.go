// Package intake appends answers to the log: lines of answers that were captured elsewhere (NDJSON), and facts that the
// simulator made.
//
// An import is idempotent for ever. An answer's id is made of what identifies it (brand, prompt text, platform, model,
// region, sample, answered_at), so importing a file again makes the same ids: those that have landed are skipped, and
// the sink drops one that is appended twice. An import that was killed is continued by running it again.
//
// A line that cannot be an answer is refused with its number and with what would be right, and the import goes on.
// Memory is bounded: one batch of lines and the ids of the last ones.
//
// Decisions that the format leaves open:
//   - Fields that it does not name are ignored. A field that is there twice refuses the line, since either value could
//     be meant.
//   - null is the same as absent. An optional text may be empty.
//   - Bytes that are not UTF-8 refuse the line; an escaped half of a surrogate pair becomes U+FFFD.
//   - An integer may be written 1, 1.0 or 1e0.
//   - Times are kept in milliseconds: what differs by less is the same instant.
//   - An empty text refuses the line unless it has products: no answer was captured.
//   - A citation with an empty url cites nothing and is left out.
//   - A line may have given_up, an error class, with given_up_error, in place of a text: a run that ended without an
//     answer, as an export writes it.
//   - A line of a frozen month, whose raw answers have expired, is refused.
//   - Blank lines, a byte-order mark at the beginning and CRLF are ignored.
package intake

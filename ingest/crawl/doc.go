// Package crawl reads access logs and appends the requests of AI crawlers in them to the log (Kafka).
//
// Importing a file is idempotent for ever. A crawl's id is made of its site, its line and the line's ordinal among equal
// lines of the file, so importing it again makes the same ids: those that have landed are skipped, and the sink drops one
// that is appended twice. All crawls of a brand have one key, and so one partition.
//
// Memory is bounded: one batch of crawls, and how often each of the last distinct lines came.
//
// Decisions that the formats leave open:
//   - A line is of an AI crawler if its User-Agent says so (internal/useragent). All others are ignored, whatever else
//     is wrong with them.
//   - A line that is of an AI crawler, or whose User-Agent cannot be found, and that
//     cannot be read is refused with its number.
//   - The site of a line is the host that it names (Cloudflare, CloudFront), else the one that the caller names. Lines
//     of hosts that are not the caller's are ignored.
//   - A path has no query, and is kept as it was asked, escapes and all.
//   - Comments (#), blank lines, a byte-order mark at the beginning and CRLF are ignored.
//   - A file may be compressed with gzip; its first bytes tell.
//   - Addresses of requesters are compared with published ranges where there are some,
//     and are kept nowhere: no record, no message has one.
package crawl

package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/useragent"
	"github.com/answerscope/answerscope/sql/postgres"
)

// AccessLog is what is known of a file beside its lines. An import of it appends the requests of AI crawlers in it.
//
// Importing a file is idempotent for ever. A crawl's id is made of its site, its line and the line's ordinal among
// equal lines of the file, so logImport it again makes the same ids: those that have landed are skipped, and the sink
// drops one that is appended twice. All crawls of a brand have one key, and so one partition.
//
// Memory is bounded: one batch of crawls, and how often each of the last distinct lines came.
//
// Decisions that the formats leave open:
//   - A line is of an AI crawler if its User-Agent says so (internal/useragent). All others are ignored, whatever else
//     is wrong with them.
//   - A line that is of an AI crawler, or whose User-Agent cannot be loggedCrawl, and that
//     cannot be read is refused with its number.
//   - The site of a line is the host that it names (Cloudflare, CloudFront), else the one that the caller names. Lines
//     of hosts that are not the caller's are ignored.
//   - A path has no query and no segment that looks like a secret (event.MaskPath). Else it is kept as it was asked,
//     escapes and all.
//   - Comments (#), blank lines, a byte-order mark at the beginning and CRLF are ignored.
//   - A file may be compressed with gzip, which its first bytes show.
//   - Addresses of requesters are compared with published ranges where there are some,
//     and are kept nowhere: no record, no message has one.
type AccessLog struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	Format         Format
	Sites          []string // hosts, lower case, whose lines count, with those below them
	Site           string   // the host of lines that name none; "": they are refused
	Ranges         Ranges
	Refused        func(Refusal) // nil, or called with each that Summary.Refusals lists; once where no line is in the format
}

// AccessLogSummary counts the lines by what became of them.
type AccessLogSummary struct {
	Imported int       `json:"imported"` // crawls that Kafka has
	Skipped  int       `json:"skipped"`  // crawls that had landed
	Refused  int       `json:"refused"`
	Others   int       `json:"others"`   // lines of no AI crawler, or of other sites
	Refusals []Refusal `json:"refusals"` // the first thousand of them
}

// ImportAccessLog reads a file's lines and appends the crawls among them. It returns when Kafka has them all; an error is a
// *Interrupted. progress, if not nil, is called after every batch with how many bytes of the file were read.
// Crawls of a file that is read slowly are appended meanwhile.
func (im *Importer) ImportAccessLog(ctx context.Context, file io.Reader, of AccessLog, progress func(bytes int64)) (AccessLogSummary, error) {
	i := &logImport{Importer: im, of: of, reader: logReader{format: of.Format}, ordinals: newOrdinals(rememberedLines), summary: AccessLogSummary{Refusals: []Refusal{}}}
	if err := i.run(ctx, file, progress); err != nil {
		return i.summary, &Interrupted{Line: i.done, Imported: i.summary.Imported, Facts: "crawls", Cause: err}
	}
	return i.summary, nil
}

// logImport is one import under way.
type logImport struct {
	*Importer
	of       AccessLog
	reader   logReader
	ordinals *ordinals
	lines    *lineReader
	raw      *countedReader
	batch    []loggedCrawl
	begun    time.Time // when batch had its first
	summary  AccessLogSummary
	done     int  // line
	reports  bool // refusals are reported one by one: a line was in the format, or that none was is reported
}

// loggedCrawl is a crawl with the line that it came from.
type loggedCrawl struct {
	line  int
	crawl event.Crawl
}

func (i *logImport) run(ctx context.Context, file io.Reader, progress func(int64)) (err error) {
	if i.lines, i.raw, err = readLines(file, i.refuse); err != nil {
		return err
	}
	for shown := int64(0); ; {
		line, err := i.lines.Next()
		ended, quiet := errors.Is(err, io.EOF), errors.Is(err, errQuiet)
		switch {
		case err == nil:
			i.take(line)
		case !ended && !quiet:
			return errors.Join(fmt.Errorf("read line %d: %w", i.lines.Number+1, err), i.flush(ctx))
		}
		if len(i.batch) == i.limits.logCrawls || ended || quiet || len(i.batch) > 0 && time.Since(i.begun) >= i.limits.linger {
			if err := i.flush(ctx); err != nil {
				return err
			}
		}
		if progress != nil && (ended || i.raw.read != shown) {
			shown = i.raw.read
			progress(shown)
		}
		if ended || quiet {
			i.nameMisfit()
		}
		if ended {
			return ctx.Err()
		}
	}
}

// take reads one line.
func (i *logImport) take(line []byte) {
	agent, rest, err := i.reader.read(line)
	if err != nil {
		if !errors.Is(err, errNoRequest) {
			i.refuse(i.lines.Number, err)
		}
		return
	}
	if !i.reports {
		i.reports = true
		for _, refusal := range i.summary.Refusals {
			i.report(refusal)
		}
	}
	crawler, ok := useragent.CrawlerOf(agent)
	if !ok {
		i.summary.Others++
		return
	}
	request, err := rest()
	if err != nil {
		i.refuse(i.lines.Number, err)
		return
	}
	host, err := i.site(request.host)
	switch {
	case err != nil:
		i.refuse(i.lines.Number, err)
	case host == "":
		i.summary.Others++
	default:
		if len(i.batch) == 0 {
			i.begun = time.Now()
		}
		i.batch = append(i.batch, loggedCrawl{i.lines.Number, i.crawl(line, host, crawler, request)})
	}
}

// site is the host of a line; "" if it is not among the sites of the log.
func (i *logImport) site(host string) (string, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if name, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	if host == "" || host == "-" {
		if i.of.Site == "" {
			return "", errors.New("the line names no host: want --site to name it")
		}
		return i.of.Site, nil
	}
	if slices.ContainsFunc(i.of.Sites, func(site string) bool { return host == site || strings.HasSuffix(host, "."+site) }) {
		return host, nil
	}
	return "", nil
}

func (i *logImport) crawl(line []byte, host string, crawler useragent.Crawler, q logRequest) event.Crawl {
	at := event.At(q.at)
	return event.Crawl{
		V: event.Version, ID: event.CrawlID(host, line, i.ordinals.next(host, line), at.Time),
		OrganizationID: i.of.OrganizationID, BrandID: i.of.BrandID, At: at,
		Crawler: crawler.Name, Operator: crawler.Operator, Platform: crawler.Platform, Purpose: event.Purpose(crawler.Purpose),
		Host: host, Path: q.path, Status: q.status, Bytes: q.bytes,
		Verified: i.of.Ranges.verify(crawler.Name, q.address),
	}
}

// flush appends what of the batch has not landed.
func (i *logImport) flush(ctx context.Context) error {
	batch, err := i.appendable(ctx)
	if err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(batch))
	for n, f := range batch {
		ids[n] = f.crawl.ID
	}
	landed := map[uuid.UUID]bool{}
	if len(ids) > 0 {
		if landed, err = i.landings.Crawls(ctx, i.of.OrganizationID, i.of.BrandID, ids); err != nil {
			return fmt.Errorf("look up %d crawls of brand %s: %w", len(ids), i.of.BrandID, err)
		}
	}
	var records []producer.Record
	for _, f := range batch {
		if landed[f.crawl.ID] {
			i.summary.Skipped++
			continue
		}
		value, err := event.EncodeCrawl(nil, &f.crawl)
		if err != nil {
			i.refuse(f.line, err)
			continue
		}
		records = append(records, producer.Record{Key: event.BrandKey(i.of.BrandID), Value: value})
	}
	if len(records) > 0 {
		appended, err := i.producer.AppendAll(ctx, event.TopicCrawls, records)
		i.summary.Imported += appended
		if err != nil {
			return err
		}
	}
	i.batch, i.done = i.batch[:0], i.lines.Number
	return ctx.Err()
}

// appendable refuses invalid crawls and those of frozen months.
func (i *logImport) appendable(ctx context.Context) ([]loggedCrawl, error) {
	var good []loggedCrawl
	for _, f := range i.batch {
		if err := f.crawl.Check(i.now()); err != nil {
			i.refuse(f.line, err)
		} else {
			good = append(good, f)
		}
	}
	open, frozen, err := postgres.SplitFrozen(ctx, i.store, event.TopicCrawls, good, func(f loggedCrawl) time.Time { return f.crawl.At.Time })
	for _, f := range frozen {
		i.refuse(f.line, fmt.Errorf("%s: raw crawls of that month have expired, and no more are taken; want a later one", f.crawl.At))
	}
	return open, err
}

func (i *logImport) refuse(line int, why error) {
	i.summary.Refused++
	if len(i.summary.Refusals) < i.limits.listed {
		refusal := Refusal{Line: line, Reason: why.Error()}
		i.summary.Refusals = append(i.summary.Refusals, refusal)
		if i.reports {
			i.report(refusal)
		}
	}
}

// nameMisfit reports once that no line is in the format, in place of a refusal for each.
func (i *logImport) nameMisfit() {
	if i.reports || i.summary.Refused == 0 {
		return
	}
	i.reports = true
	first := i.summary.Refusals[0]
	i.report(Refusal{Line: first.Line, Reason: fmt.Sprintf("%s. None of %d lines is in the format %s: choose another by --format", first.Reason, i.summary.Refused, i.of.Format)})
}

func (i *logImport) report(r Refusal) {
	if i.of.Refused != nil {
		i.of.Refused(r)
	}
}

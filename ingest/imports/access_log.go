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
	"github.com/answerscope/answerscope/internal/useragent"
)

// AccessLog is a log of requests, of which those by AI crawlers are appended.
//
// A crawl's id is made of its site, its line and the line's ordinal among equal lines of the file, so importing a file
// again makes the same ids. All crawls of a brand have one key, and so one partition.
//
// Decisions that the formats leave open:
//   - The User-Agent of a line names the AI crawler (internal/useragent). Lines without a crawler are ignored, even
//     malformed ones.
//   - A line of an AI crawler that cannot be read is refused with its number, and so is one without a User-Agent.
//   - The site of a line is the host of an absolute target, else the host that another field names, else Site. Lines of
//     other hosts than Sites are ignored. Once a field has named a host, a line that names none is refused if Site is
//     Assumed: it may be of any site.
//   - A path has no query, no segment that looks like a secret (event.MaskPath), and the spelling of event.Path.
//   - Comments (#), blank lines, a byte-order mark at the beginning and CRLF are ignored.
//   - A file may be compressed with gzip, which its first bytes show.
//   - Addresses of requesters are compared with published ranges where there are some. No record and no message has
//     one.
type AccessLog struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	Format         Format
	Sites          []string // hosts, lower case, whose lines count, with those below them
	Site           string   // the host of lines that name none; "": they are refused
	Assumed        bool     // Site is a guess, which holds in a log whose lines name no host
	Ranges         Ranges

	// Refused is nil, or called with each refusal that the summary lists; once where no line is in the format.
	Refused func(Refusal)
}

// AccessLogSummary counts the lines by their outcome.
type AccessLogSummary struct {
	Counts
	Others   int       `json:"others"`   // lines of no AI crawler, or of other sites
	Hosts    []Passed  `json:"hosts"`    // the most frequent hosts of AI crawlers' lines of other sites
	Agents   []Passed  `json:"agents"`   // the most frequent agents that may be crawlers, and are on no list
	Refusals []Refusal `json:"refusals"` // the first thousand of them
}

// ImportAccessLog reads a file's lines and appends the crawls among them. It returns when Kafka has them all; an error
// is an *Interrupted. progress, if not nil, is called after every batch with how many bytes of the file were read.
// Crawls of a file that is read slowly are appended meanwhile.
func (im *Importer) ImportAccessLog(
	ctx context.Context, file io.Reader, log AccessLog, progress func(bytes int64),
) (AccessLogSummary, error) {
	i := &logImport{
		importRun: newImportRun(im, event.TopicCrawls), log: log, reader: logReader{format: log.Format},
		ordinals: newOrdinals(rememberedLines),
		target:   target{event.TopicCrawls, im.lookups.Crawls, log.OrganizationID, log.BrandID},
	}
	i.onRefuse = i.reportRefusal
	err := i.run(ctx, file, progress)
	if err != nil {
		err = i.interrupted(i.appendedLine, err)
	}
	return AccessLogSummary{i.Counts, i.others, i.hosts.top(), i.agents.top(), i.Refusals}, err
}

// logImport is one import under way.
type logImport struct {
	importRun
	log          AccessLog
	target       target
	reader       logReader
	ordinals     *ordinals
	lines        *lineReader
	raw          *countedReader
	batch        []fact
	batchStart   time.Time // when batch had its first
	appendedLine int       // the last line of which all crawls are on the log
	others       int
	hosts        frequent
	agents       frequent
	hasHosts     bool // a field has named a host
	hasNames     bool // the name in front is the host's
	reports      bool // refusals are reported one by one: a line was in the format, or it is reported that none was
}

func (i *logImport) run(ctx context.Context, file io.Reader, progress func(int64)) (err error) {
	i.lines, i.raw, err = openLines(file, func(line int, err error) { i.refuse(line, uuid.Nil, err) })
	if err != nil {
		return err
	}
	for reported := int64(0); ; {
		line, err := i.lines.next()
		ended, quiet := errors.Is(err, io.EOF), errors.Is(err, errQuiet)
		switch {
		case err == nil:
			i.add(line)
		case !ended && !quiet:
			return errors.Join(fmt.Errorf("read line %d: %w", i.lines.number+1, err), i.flush(ctx))
		}
		lingered := len(i.batch) > 0 && time.Since(i.batchStart) >= i.limits.linger
		if len(i.batch) == i.limits.logCrawls || ended || quiet || lingered {
			if err := i.flush(ctx); err != nil {
				return err
			}
		}
		if progress != nil && (ended || i.raw.bytes != reported) {
			reported = i.raw.bytes
			progress(reported)
		}
		if ended || quiet {
			i.reportMisfit()
		}
		if ended {
			return ctx.Err()
		}
	}
}

func (i *logImport) flush(ctx context.Context) error {
	if err := i.deliver(ctx, i.target, i.batch); err != nil {
		return err
	}
	i.batch, i.appendedLine = nil, i.lines.number
	return ctx.Err()
}

// add adds a line to the batch if it is a crawl.
func (i *logImport) add(line []byte) {
	parsed, err := i.reader.read(line)
	if errors.Is(err, errNoRequest) {
		return
	}
	if err == nil {
		i.reportAll()
		crawler, ok := useragent.CrawlerOf(parsed.agent)
		if !ok {
			i.others++
			if name, ok := useragent.Unlisted(parsed.agent); ok {
				i.agents.add(name)
			}
			return
		}
		err = i.addCrawl(line, crawler, parsed.request)
	}
	if err != nil {
		i.refuse(i.lines.number, uuid.Nil, err)
	}
}

func (i *logImport) addCrawl(line []byte, crawler useragent.Crawler, parse func() (logRequest, error)) error {
	request, err := parse()
	if err != nil {
		return err
	}
	host, err := i.site(&request)
	if err != nil {
		return err
	}
	if !i.log.isSite(host) {
		i.others++
		i.hosts.add(host)
		return nil
	}
	at := event.At(request.at)
	c := event.Crawl{
		V: event.Version, ID: event.CrawlID(host, line, i.ordinals.next(host, line), at.Time),
		OrganizationID: i.log.OrganizationID, BrandID: i.log.BrandID, At: at, Crawler: crawler.Name,
		Operator: crawler.Operator, Platform: crawler.Platform, Purpose: event.Purpose(crawler.Purpose),
		Host: host, Path: request.path, Status: request.status, Bytes: request.bytes,
		Verified: i.log.Ranges.verify(crawler.Name, request.address),
	}
	if err := c.Check(i.now()); err != nil {
		return err
	}
	if len(i.batch) == 0 {
		i.batchStart = time.Now()
	}
	i.batch = append(i.batch, fact{
		line: i.lines.number, id: c.ID, at: at.Time,
		encode: func(_, _ uuid.UUID) ([]byte, error) { return event.EncodeCrawl(nil, &c) },
	})
	return nil
}

// site returns the host of a line.
func (i *logImport) site(request *logRequest) (string, error) {
	host := hostOfLog(request.host)
	if name := hostOfLog(request.name); host == "" && (i.hasNames || i.log.isSite(name)) {
		host, i.hasNames = name, true
	}
	i.hasHosts = i.hasHosts || host != "" && !request.target
	switch {
	case host != "" && host != "-":
		return host, nil
	case i.log.Site == "":
		return "", errors.New("the line names no host: want --site to name it")
	case i.log.Assumed && i.hasHosts:
		return "", errors.New("the line names no host, as others of the log do: want --site to name it")
	}
	return i.log.Site, nil
}

// isSite reports whether lines of a host count.
func (l *AccessLog) isSite(host string) bool {
	return slices.ContainsFunc(l.Sites, func(site string) bool {
		return host == site || strings.HasSuffix(host, "."+site)
	})
}

func (i *logImport) reportRefusal(r Refusal) {
	if i.reports && i.log.Refused != nil {
		i.log.Refused(r)
	}
}

// reportAll reports the refusals before the first line in the format.
func (i *logImport) reportAll() {
	if i.reports {
		return
	}
	i.reports = true
	for _, r := range i.Refusals {
		i.reportRefusal(r)
	}
}

// reportMisfit reports once that no line is in the format, in place of a refusal for each.
func (i *logImport) reportMisfit() {
	if i.reports || i.Refused == 0 {
		return
	}
	i.reports = true
	first := i.Refusals[0]
	const misfit = ". None of %d lines is in the format %s: choose another by --format"
	first.Reason += fmt.Sprintf(misfit, i.Refused, i.log.Format)
	i.reportRefusal(first)
}

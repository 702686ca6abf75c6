package crawl

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

// Config bounds what is held at a time.
type Config struct {
	LineBytes  int           // a longer line is refused
	BatchLines int           // crawls that are looked up and appended together
	Linger     time.Duration // how long a crawl of a file that is followed waits for others
	Remembered int           // distinct lines that are told apart from equal ones, twice as many at most
	Listed     int           // refusals that the summary lists; it counts them all
}

// DefaultConfig holds at most about 100 MB.
func DefaultConfig() Config {
	return Config{LineBytes: 256 << 10, BatchLines: 2000, Linger: time.Second, Remembered: 1 << 19, Listed: 1000}
}

// Validate says every bound that is not one.
func (c Config) Validate() error {
	var errs []error
	for _, bound := range []struct {
		name  string
		value int
	}{{"line bytes", c.LineBytes}, {"batch lines", c.BatchLines}, {"remembered", c.Remembered}, {"listed", c.Listed}} {
		if bound.value < 1 {
			errs = append(errs, fmt.Errorf("crawl: %s is %d: want 1 or more", bound.name, bound.value))
		}
	}
	if c.Linger <= 0 {
		errs = append(errs, fmt.Errorf("crawl: linger is %s: want a time", c.Linger))
	}
	return errors.Join(errs...)
}

// Landings tells which crawls of a brand have landed in the warehouse. A crawl lies on
// the day of event.IDTime of its id.
type Landings interface {
	LandedCrawls(ctx context.Context, organization, brand uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Importer appends crawls to the log.
type Importer struct {
	config   Config
	log      *producer.Producer
	store    *postgres.DB
	landings Landings
	now      func() time.Time
}

// New returns an importer that does nothing yet. now is the clock.
func New(config Config, log *producer.Producer, store *postgres.DB, landings Landings, now func() time.Time) (*Importer, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Importer{config, log, store, landings, now}, nil
}

// A Log is what is told of a file beside its lines.
type Log struct {
	OrganizationID uuid.UUID
	BrandID        uuid.UUID
	Format         Format
	Sites          []string // hosts, lower case, whose lines count, with those below them
	Site           string   // the host of lines that name none; "": they are refused
	Ranges         Ranges
	Refused        func(Refusal) // nil, or called with each that Summary.Refusals lists, as it is met
}

// Summary is what became of the lines.
type Summary struct {
	Imported int       `json:"imported"` // crawls that Kafka has
	Skipped  int       `json:"skipped"`  // crawls that had landed
	Refused  int       `json:"refused"`
	Others   int       `json:"others"`   // lines of no AI crawler, or of other sites
	Refusals []Refusal `json:"refusals"` // the first Config.Listed of them
}

// Refusal says which line was refused, and what would be right.
type Refusal struct {
	Line   int    `json:"line"` // from 1
	Reason string `json:"reason"`
}

// Interrupted is an import that ended early. Importing again goes on from there.
type Interrupted struct {
	Summary Summary
	Line    int // the last line of which everything is on the log; 0 none
	Cause   error
}

func (e *Interrupted) Error() string {
	return fmt.Sprintf("stopped after line %d; Kafka has acknowledged %d crawls, and the same import again goes on from there: %v", e.Line, e.Summary.Imported, e.Cause)
}

func (e *Interrupted) Unwrap() error { return e.Cause }

// Import reads a file's lines and appends the crawls among them. It returns when Kafka
// has them all; an error is an *Interrupted. progress, if not nil, is called after every
// batch with how many bytes of the file were read. What file has may come slowly, and
// is appended meanwhile.
func (im *Importer) Import(ctx context.Context, file io.Reader, of Log, progress func(bytes int64)) (Summary, error) {
	i := &importing{Importer: im, of: of, reader: reader{format: of.Format}, ordinals: newOrdinals(im.config.Remembered), summary: Summary{Refusals: []Refusal{}}}
	if err := i.run(ctx, file, progress); err != nil {
		return i.summary, &Interrupted{Summary: i.summary, Line: i.done, Cause: err}
	}
	return i.summary, nil
}

// importing is one import under way.
type importing struct {
	*Importer
	of       Log
	reader   reader
	ordinals *ordinals
	lines    *lines
	batch    []found
	begun    time.Time // when batch had its first
	summary  Summary
	done     int // line
}

// found is a crawl with the line that it came from.
type found struct {
	line  int
	crawl event.Crawl
}

func (i *importing) run(ctx context.Context, file io.Reader, progress func(int64)) (err error) {
	if i.lines, err = newLines(file, i.config.LineBytes); err != nil {
		return err
	}
	for shown := int64(0); ; {
		line, length, err := i.lines.next()
		ended, quiet := errors.Is(err, io.EOF), errors.Is(err, errQuiet)
		switch {
		case err == nil:
			i.take(line, length)
		case !ended && !quiet:
			return errors.Join(fmt.Errorf("read line %d: %w", i.lines.number+1, err), i.flush(ctx))
		}
		if len(i.batch) == i.config.BatchLines || ended || quiet || len(i.batch) > 0 && time.Since(i.begun) >= i.config.Linger {
			if err := i.flush(ctx); err != nil {
				return err
			}
		}
		if progress != nil && (ended || i.lines.raw.read != shown) {
			shown = i.lines.raw.read
			progress(shown)
		}
		if ended {
			return ctx.Err()
		}
	}
}

// take reads one line.
func (i *importing) take(line []byte, length int) {
	switch {
	case line == nil && length > 0:
		i.refuse(i.lines.number, fmt.Errorf("line of %d bytes: want at most %d", length, i.config.LineBytes))
		return
	case len(strings.TrimSpace(string(line))) == 0:
		return
	}
	agent, rest, err := i.reader.read(line)
	if err != nil {
		if !errors.Is(err, errNoRequest) {
			i.refuse(i.lines.number, err)
		}
		return
	}
	crawler, ok := useragent.CrawlerOf(agent)
	if !ok {
		i.summary.Others++
		return
	}
	request, err := rest()
	if err != nil {
		i.refuse(i.lines.number, err)
		return
	}
	host, err := i.site(request.host)
	switch {
	case err != nil:
		i.refuse(i.lines.number, err)
	case host == "":
		i.summary.Others++
	default:
		if len(i.batch) == 0 {
			i.begun = time.Now()
		}
		i.batch = append(i.batch, found{i.lines.number, i.crawl(line, host, crawler, request)})
	}
}

// site is the host of a line; "" is that of somebody else.
func (i *importing) site(host string) (string, error) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if name, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	if host == "" || host == "-" {
		if i.of.Site == "" {
			return "", errors.New("the line names no host: want --site")
		}
		return i.of.Site, nil
	}
	if slices.ContainsFunc(i.of.Sites, func(site string) bool { return host == site || strings.HasSuffix(host, "."+site) }) {
		return host, nil
	}
	return "", nil
}

func (i *importing) crawl(line []byte, host string, crawler useragent.Crawler, q request) event.Crawl {
	at := event.At(q.at)
	return event.Crawl{
		V:              event.Version,
		ID:             event.CrawlID(host, line, i.ordinals.next(host, line), at.Time),
		OrganizationID: i.of.OrganizationID,
		BrandID:        i.of.BrandID,
		At:             at,
		Crawler:        crawler.Name,
		Operator:       crawler.Operator,
		Platform:       crawler.Platform,
		Purpose:        event.Purpose(crawler.Purpose),
		Host:           host,
		Path:           q.path,
		Status:         q.status,
		Bytes:          q.bytes,
		Verified:       i.of.Ranges.verify(crawler.Name, q.address),
	}
}

// flush appends what of the batch has not landed.
func (i *importing) flush(ctx context.Context) error {
	batch, err := i.thawed(ctx)
	if err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(batch))
	for n, f := range batch {
		ids[n] = f.crawl.ID
	}
	landed := map[uuid.UUID]bool{}
	if len(ids) > 0 {
		if landed, err = i.landings.LandedCrawls(ctx, i.of.OrganizationID, i.of.BrandID, ids); err != nil {
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
		records = append(records, producer.Record{Key: event.CrawlKey(i.of.BrandID), Value: value})
	}
	if len(records) > 0 {
		appended, err := i.log.AppendAll(ctx, event.TopicCrawls, records)
		i.summary.Imported += appended
		if err != nil {
			return err
		}
	}
	i.batch, i.done = i.batch[:0], i.lines.number
	return ctx.Err()
}

// thawed refuses what may not be appended: crawls of frozen months, of which nobody
// knows any more what has landed, among them.
func (i *importing) thawed(ctx context.Context) ([]found, error) {
	var months []time.Time
	var good []found
	for _, f := range i.batch {
		if err := f.crawl.Check(i.now()); err != nil {
			i.refuse(f.line, err)
			continue
		}
		good = append(good, f)
		if month := postgres.MonthOf(f.crawl.At.Time); !slices.Contains(months, month) {
			months = append(months, month)
		}
	}
	if len(months) == 0 {
		return nil, nil
	}
	frozen, err := i.store.FrozenMonths(ctx, event.TopicCrawls, months)
	if err != nil || len(frozen) == 0 {
		return good, err
	}
	return slices.DeleteFunc(good, func(f found) bool {
		if !frozen[postgres.MonthOf(f.crawl.At.Time)] {
			return false
		}
		i.refuse(f.line, fmt.Errorf("%s: raw crawls of that month have expired, and no more are taken; want a later one", f.crawl.At))
		return true
	}), nil
}

func (i *importing) refuse(line int, why error) {
	i.summary.Refused++
	if len(i.summary.Refusals) < i.config.Listed {
		refusal := Refusal{Line: line, Reason: why.Error()}
		i.summary.Refusals = append(i.summary.Refusals, refusal)
		if i.of.Refused != nil {
			i.of.Refused(refusal)
		}
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/answer"
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline/extract/near"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/postgres"
)

// importCmd is the command import.
type importCmd struct {
	File   string `arg:"" help:"Answers, or what export wrote, one JSON object a line; - is stdin."`
	Org    string `required:"" placeholder:"SLUG" help:"Whose answers."`
	Brand  string `placeholder:"SLUG" help:"The brand that they are read for."`
	Create string `placeholder:"FILE" help:"{import_create}"`
	JSON   bool   `name:"json" help:"One JSON document, with the refused lines."`
}

func (c *importCmd) Run(ctx context.Context, p *process) error {
	if (c.Brand == "") == (c.Create == "") {
		return usageError{errors.New("want one of --brand and --create")}
	}
	var specs []postgres.NewBrand
	if c.Create != "" {
		file, err := os.Open(c.Create)
		if err != nil {
			return fmt.Errorf("read brands: %w", err)
		}
		specs, err = imports.ReadBrands(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	file, size, err := openInput(p, c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	on, err := p.connect(ctx, service.Everything)
	if err != nil {
		return err
	}
	return withProducer(ctx, on, func(ctx context.Context, appends *producer.Producer) error {
		brands, err := c.brands(ctx, p, on.DB, specs)
		if err != nil {
			return err
		}
		if len(brands) > 1 {
			p.say("each line is read for each of %d brands", len(brands))
		}
		return c.importFile(ctx, p, newImporter(on, appends), file, size, brands)
	})
}

// openInput opens a file, or stdin for -, and returns its size in bytes, 0 when that is not known.
func openInput(p *process, name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(p.stdin), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, fmt.Errorf("import: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory, want a file", name)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("import: %w", err), file.Close())
	}
	return file, info.Size(), nil
}

// cancelableReader returns a reader of r that fails when ctx ends: a pipe may block a reader indefinitely, and an
// interrupted import must still print its counts. Bytes read from r after that are lost.
func cancelableReader(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err) // nil is the end of the file
	}()
	return out
}

// brands finds the brands that the answers are for. It creates missing brands of --create, by slug or else by name, and
// adds missing parts to the others.
func (c *importCmd) brands(
	ctx context.Context, p *process, db *postgres.DB, specs []postgres.NewBrand,
) ([]uuid.UUID, error) {
	organization, brand, err := findBrand(ctx, db, c.Org, c.Brand)
	if err != nil || c.Brand != "" {
		return []uuid.UUID{brand.ID}, err
	}
	stored, err := db.Brands(ctx, organization.ID)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, spec := range specs {
		for _, b := range stored {
			if spec.Slug == "" && strings.EqualFold(b.Name, spec.Name) {
				spec.Slug = b.Slug
			}
		}
		brand, added, err := db.AddBrand(ctx, organization.ID, spec)
		if err != nil {
			return nil, err
		}
		ids = append(ids, brand.ID)
		if added {
			p.say("created brand %s with %d competitors", brand.Slug, len(spec.Competitors))
			continue
		}
		snapshot, err := db.Snapshot(ctx, brand.ID)
		if err != nil {
			return nil, err
		}
		gap := imports.GapOf(spec, brand, snapshot)
		if err := gap.Fill(ctx, db, brand.ID); err != nil {
			return nil, err
		}
		if len(gap.Added) > 0 {
			p.say("brand %s exists; added to it from %s: %s", brand.Slug, c.Create, strings.Join(gap.Added, "; "))
		}
		if len(gap.Different) > 0 {
			p.say("brand %s stays as it is, where %s says otherwise: %s", brand.Slug, c.Create,
				strings.Join(gap.Different, "; "))
		}
	}
	return ids, nil
}

func (c *importCmd) importFile(
	ctx context.Context, p *process, in *imports.Importer, file io.Reader, size int64, brands []uuid.UUID,
) error {
	nearNames := findNearNames(in)
	progress := p.newMeter("import: bytes read", size)
	summary, err := in.Import(ctx, cancelableReader(ctx, file), brands,
		func(at imports.Progress) { progress.reach(at.Bytes) })
	progress.end()
	result := importResult{summary, nearNames()}
	for _, r := range summary.Refusals {
		brand := ""
		if r.Brand != uuid.Nil {
			brand = fmt.Sprintf(", brand %s", r.Brand)
		}
		p.say("line %d%s: %s", r.Line, brand, r.Reason)
	}
	if err != nil {
		return err
	}
	p.sayNearNames(result.Near)
	return p.printCounts(c.JSON, result, summary.Counts)
}

// importResult is the whole result of an import.
type importResult struct {
	imports.Summary
	Near []near.Name `json:"near_names"`
}

// printCounts prints them, or with --json the whole summary; the error is errRefused when lines were refused.
func (p *process) printCounts(asJSON bool, summary any, n imports.Counts) error {
	result := summary
	if !asJSON {
		result = n
	}
	if err := p.printJSON(result); err != nil || n.Refused == 0 {
		return err
	}
	return errRefused
}

// withProducer calls do with a producer once the disk has room, and waits until the log has all appended records.
func withProducer(ctx context.Context, e *service.Engines, do func(context.Context, *producer.Producer) error) error {
	appends, err := e.NewProducer(prometheus.NewRegistry(), producer.Spool{})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan error, 1)
	go func() { stopped <- appends.Run(running) }()
	if err = appends.AwaitRoom(ctx); err == nil {
		err = do(ctx, appends)
	}
	stop()
	return errors.Join(err, <-stopped)
}

func newImporter(e *service.Engines, appends *producer.Producer) *imports.Importer {
	return imports.New(appends, e.DB, imports.Lookups{
		Answers: lookup(e.Warehouse, clickhouse.LandedAnswers),
		Visits:  lookup(e.Warehouse, clickhouse.Visits.Landed), Crawls: lookup(e.Warehouse, clickhouse.Crawls.Landed),
	}, time.Now)
}

// lookup asks the warehouse which facts of a kind it has.
func lookup[T any](
	conn *clickhouse.Conn, find func(context.Context, *clickhouse.Conn, []clickhouse.Key,
		clickhouse.LogLimit) (map[clickhouse.Key]T, error),
) answer.Lookup {
	return func(ctx context.Context, organization, brand uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
		keys := make([]clickhouse.Key, len(ids))
		for i, id := range ids {
			keys[i] = clickhouse.Key{OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(brand),
				ID: clickhouse.UUID(id)}
		}
		rows, err := find(ctx, conn, keys, clickhouse.LogLimit{})
		if err != nil {
			return nil, err
		}
		landed := make(map[uuid.UUID]bool, len(rows))
		for key := range rows {
			landed[uuid.UUID(key.ID)] = true
		}
		return landed, nil
	}
}

// listedNear is how many names an import lists that were not counted. searchedNear answers are searched for them:
// enough to find frequent names, in a second of CPU.
const (
	listedNear   = 10
	searchedNear = 20_000
)

// findNearNames has the first answers of an import searched for names that nearly match, while the import waits for the
// engines. finish ends that, and returns the result.
func findNearNames(in *imports.Importer) (finish func() []near.Name) {
	var finder near.Finder
	queue, done := make(chan *event.Answer, 16), make(chan struct{})
	go func() {
		defer close(done)
		for a := range queue {
			finder.Read(a)
		}
	}()
	left := searchedNear
	in.Observe = func(a *event.Answer) {
		if left--; left >= 0 {
			queue <- a
		}
	}
	return func() []near.Name {
		close(queue)
		<-done
		return finder.Names(listedNear)
	}
}

// sayNearNames prints what nearly is a name, and was not counted.
func (p *process) sayNearNames(names []near.Name) {
	for _, n := range names {
		answers := "answers"
		if n.Answers == 1 {
			answers = "answer"
		}
		p.say("not counted: %q in %d %s, nearly %q of %s", n.Text, n.Answers, answers, n.Near, n.Entity)
	}
	if len(names) > 0 {
		p.say("where that is the same, add it to the aliases, and what was imported is read again: " +
			"docs/import.md#names-that-nearly-match")
	}
}

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
	Create string `placeholder:"FILE" help:"Brands that they are read for, as JSON; those that are missing are created with their domains and competitors."`
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
	return p.with(ctx, service.Everything, func(ctx context.Context, on *engines) error {
		return on.appending(ctx, func(ctx context.Context, log *producer.Producer) error {
			brands, err := c.brands(ctx, p, on, specs)
			if err != nil {
				return err
			}
			in := imports.New(log, on.DB, importLookups(on.Warehouse), time.Now)
			return c.take(ctx, p, in, file, size, brands)
		})
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

// while returns a reader of r that fails when ctx ends: a pipe may keep a reader waiting for ever, and an import that
// is to end must still say how far it is. What r gives after that is lost.
func while(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err) // nil is the end of the file
	}()
	return out
}

// brands finds the brands that the answers are for, and creates those that --create names and that are missing.
func (c *importCmd) brands(ctx context.Context, p *process, on *engines, specs []postgres.NewBrand) ([]uuid.UUID, error) {
	organization, brand, err := on.brand(ctx, c.Org, c.Brand)
	if err != nil || c.Brand != "" {
		return []uuid.UUID{brand.ID}, err
	}
	var ids []uuid.UUID
	for _, spec := range specs {
		brand, added, err := on.DB.AddBrand(ctx, organization.ID, spec)
		if err != nil {
			return nil, err
		}
		if added {
			p.say("created brand %s with %d competitors", brand.Slug, len(spec.Competitors))
		} else if err := c.warnOfDifferences(ctx, p, on, spec, brand); err != nil {
			return nil, err
		}
		ids = append(ids, brand.ID)
	}
	return ids, nil
}

// warnOfDifferences says what of the file is not done, since a brand that exists is not changed.
func (c *importCmd) warnOfDifferences(ctx context.Context, p *process, on *engines, spec postgres.NewBrand, brand postgres.Brand) error {
	kept, err := on.DB.Snapshot(ctx, brand.ID)
	if err != nil {
		return err
	}
	if ignored := imports.Differences(spec, brand, kept); len(ignored) > 0 {
		p.say("brand %s exists and was not changed; %s says otherwise, which was ignored: %s", brand.Slug, c.Create, strings.Join(ignored, "; "))
	}
	return nil
}

func (c *importCmd) take(ctx context.Context, p *process, in *imports.Importer, file io.Reader, size int64, brands []uuid.UUID) error {
	nearNames := findNear(in)
	progress := p.newMeter("import: bytes read", size)
	summary, err := in.Import(ctx, while(ctx, file), brands, func(at imports.Progress) { progress.reach(at.Bytes) })
	progress.end()
	result := importResult{summary, nearNames()}
	for _, r := range summary.Refusals {
		of := ""
		if r.Brand != uuid.Nil {
			of = fmt.Sprintf(", brand %s", r.Brand)
		}
		p.say("line %d%s: %s", r.Line, of, r.Reason)
	}
	if err != nil {
		return err
	}
	p.sayNear(result.Near)
	return p.printCounts(c.JSON, result, summary.Counts)
}

// importResult is the whole result of an import.
type importResult struct {
	imports.Summary
	Near []near.Name `json:"near_names"`
}

// printCounts prints them, or the whole summary; the error is errRefused when lines were refused.
func (p *process) printCounts(whole bool, summary any, n imports.Counts) error {
	result := summary
	if !whole {
		result = n
	}
	if err := p.printJSON(result); err != nil || n.Refused == 0 {
		return err
	}
	return errRefused
}

// appending runs do with a producer once the disk has room, and waits for what it has taken.
func (e *engines) appending(ctx context.Context, do func(context.Context, *producer.Producer) error) error {
	log, err := e.NewProducer(prometheus.NewRegistry(), producer.Spool{})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan error, 1)
	go func() { stopped <- log.Run(running) }()
	if err = log.AwaitRoom(ctx); err == nil {
		err = do(ctx, log)
	}
	stop()
	return errors.Join(err, <-stopped)
}

// importLookups asks the warehouse which facts it has.
func importLookups(conn *clickhouse.Conn) imports.Lookups {
	return imports.Lookups{
		Answers: lookup(conn, clickhouse.LandedAnswers), Visits: lookup(conn, clickhouse.Visits.Landed), Crawls: lookup(conn, clickhouse.Crawls.Landed),
	}
}

// lookup asks the warehouse which facts of a kind it has.
func lookup[T any](
	conn *clickhouse.Conn, find func(context.Context, *clickhouse.Conn, []clickhouse.Key, clickhouse.LogLimit) (map[clickhouse.Key]T, error),
) answer.Lookup {
	return func(ctx context.Context, organization, brand uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
		keys := make([]clickhouse.Key, len(ids))
		for i, id := range ids {
			keys[i] = clickhouse.Key{OrganizationID: clickhouse.UUID(organization), BrandID: clickhouse.UUID(brand), ID: clickhouse.UUID(id)}
		}
		found, err := find(ctx, conn, keys, clickhouse.LogLimit{})
		if err != nil {
			return nil, err
		}
		landed := make(map[uuid.UUID]bool, len(found))
		for key := range found {
			landed[uuid.UUID(key.ID)] = true
		}
		return landed, nil
	}
}

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// exportCmd is the command export.
type exportCmd struct {
	Org    string `required:"" placeholder:"SLUG" help:"Whose facts."`
	Brand  string `required:"" placeholder:"SLUG" help:"Of which brand."`
	What   string `default:"answers" enum:"${topic_names}" help:"${topics}; crawls: of AI crawlers (default answers)."`
	From   string `placeholder:"DAY" help:"First day, UTC, as 2026-03-02 (default: the first that there is)."`
	To     string `placeholder:"DAY" help:"Last day (default: the last that there is)."`
	Format string `default:"ndjson" enum:"ndjson,parquet" help:"{export_format}"`
}

func (c *exportCmd) Run(ctx context.Context, p *process) error {
	from, to, err := parseDays(c.From, c.To)
	if err != nil {
		return usageError{err}
	}
	exported := clickhouse.ExportFilter{DateFrom: "1970-01-01", DateTo: "2149-06-06"} // every day that a fact may have
	if from != nil {
		exported.DateFrom = clickhouse.DayOf(*from)
	}
	if to != nil {
		exported.DateTo = clickhouse.DayOf(*to)
	}
	if file, ok := p.stdout.(*os.File); ok && c.Format == "parquet" && term.IsTerminal(int(file.Fd())) {
		return usageError{errors.New("parquet is binary: send stdout to a file")}
	}
	format := clickhouse.NDJSON
	if c.Format == "parquet" {
		format = clickhouse.Parquet
	}
	on, err := p.connect(ctx, service.Databases)
	if err != nil {
		return err
	}
	organization, brand, err := findBrand(ctx, on.DB, c.Org, c.Brand)
	if err != nil {
		return err
	}
	if err := on.DB.LogAudit(ctx, "exported", organization.ID, c.What+" of "+brand.Slug); err != nil {
		return err
	}
	exported.OrganizationID, exported.BrandID = clickhouse.UUID(organization.ID), clickhouse.UUID(brand.ID)
	out := &meteredWriter{to: bufio.NewWriterSize(p.stdout, 1<<20), meter: p.newMeter("export: bytes written", 0)}
	err = clickhouse.Export(ctx, on.ClickHouse, c.What, exported, format, out)
	if err == nil {
		err = out.to.Flush()
	}
	out.meter.end()
	if err != nil {
		return fmt.Errorf("export %s of %s: what was written is not whole: %w", c.What, c.Brand, err)
	}
	return nil
}

// meteredWriter shows on a meter how much was written.
type meteredWriter struct {
	to    *bufio.Writer
	meter *meter
	done  int64
}

func (c *meteredWriter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.done += int64(n)
	c.meter.reach(c.done)
	return n, err
}

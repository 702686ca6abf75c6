package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/service"
)

// crawlers is the command crawlers.
type crawlersCmd struct {
	Import crawlerImport `cmd:"" help:"Count the requests of AI crawlers in an access log."`
}

type crawlerImport struct {
	File   string   `arg:"" help:"An access log, which may be gzip; - is stdin."`
	Org    string   `required:"" placeholder:"SLUG" help:"Whose site was crawled."`
	Brand  string   `required:"" placeholder:"SLUG" help:"Of which brand."`
	Format string   `default:"combined" enum:"combined,cloudflare,cloudfront" help:"combined (nginx, Apache), cloudflare (Logpush of HTTP requests) or cloudfront (standard logs: JSON, or tab-separated with their comments) (default combined)."`
	Site   string   `placeholder:"HOST" help:"The site of the log, the same each time; lines of other hosts are passed over (default: all domains of the brand, and where a line names no host its primary one)."`
	Ranges []string `sep:"none" placeholder:"[CRAWLER=]FILE" help:"Addresses that a crawler comes from, as its operator publishes them (GPTBot=gptbot.json), or CSV of crawler,prefix; may be repeated."`
	Follow bool     `help:"Go on as the file is written to, and rotated, until stopped."`
	JSON   bool     `name:"json" help:"One JSON document, with the refused lines."`
}

func (c *crawlerImport) Run(ctx context.Context, p *process) error {
	if c.Follow && c.File == "-" {
		return usageError{errors.New("--follow wants a file: stdin is followed to its end anyway")}
	}
	ranges, err := c.ranges()
	if err != nil {
		return err
	}
	return p.with(ctx, service.Everything, func(ctx context.Context, on *engines) error {
		of, err := c.log(ctx, on)
		if err != nil {
			return err
		}
		of.Ranges, of.Refused = ranges, func(r imports.Refusal) { p.say("line %d: %s", r.Line, r.Reason) }
		return on.appending(ctx, func(ctx context.Context, log *producer.Producer) error {
			return c.take(ctx, p, imports.New(log, on.DB, importLookups(on.Warehouse), time.Now), of)
		})
	})
}

// ranges reads the files of addresses.
func (c *crawlerImport) ranges() (imports.Ranges, error) {
	ranges := imports.Ranges{}
	for _, given := range c.Ranges {
		crawler, name, named := strings.Cut(given, "=")
		if !named {
			crawler, name = "", given
		} else if err := imports.CheckCrawler(crawler); err != nil {
			return nil, usageError{fmt.Errorf("--ranges %s: %w", given, err)}
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read ranges: %w", err)
		}
		if err := errors.Join(ranges.Add(crawler, file), file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return ranges, nil
}

// log is whose log it is, and which of its lines count.
func (c *crawlerImport) log(ctx context.Context, on *engines) (of imports.AccessLog, err error) {
	organization, brand, err := on.brand(ctx, c.Org, c.Brand)
	if err != nil {
		return of, err
	}
	snapshot, err := on.DB.Snapshot(ctx, brand.ID)
	if err != nil {
		return of, err
	}
	of = imports.AccessLog{OrganizationID: organization.ID, BrandID: brand.ID, Format: imports.Format(c.Format), Sites: snapshot.Domains}
	switch site := strings.ToLower(strings.TrimSuffix(c.Site, ".")); {
	case site == "" && len(snapshot.Domains) == 0:
		return of, usageError{fmt.Errorf("brand %s has no domains: want --site", c.Brand)}
	case site == "":
		of.Site = snapshot.Domains[0]
	case len(snapshot.Domains) > 0 && !slices.ContainsFunc(snapshot.Domains, func(d string) bool { return site == d || strings.HasSuffix(site, "."+d) }):
		return of, usageError{fmt.Errorf("--site %s: want a domain of the brand (%s) or one below", c.Site, strings.Join(snapshot.Domains, ", "))}
	default:
		of.Site, of.Sites = site, []string{site}
	}
	return of, nil
}

// take imports a file to its end or, with --follow, it and those that take its name until ctx ends, which is no
// failure.
func (c *crawlerImport) take(ctx context.Context, p *process, importer *imports.Importer, of imports.AccessLog) (err error) {
	var summary imports.AccessLogSummary
	if c.Follow {
		progress := p.newMeter("crawlers import: bytes read", 0)
		summary, err = importer.FollowAccessLog(ctx, c.File, of, progress.reach, func(err error, pause time.Duration) { p.say("%v; trying again in %s", err, pause) })
		progress.end()
	} else {
		var file io.ReadCloser
		var size int64
		if file, size, err = openInput(p, c.File); err != nil {
			return err
		}
		defer file.Close()
		progress := p.newMeter("crawlers import: bytes read", size)
		summary, err = importer.ImportAccessLog(ctx, while(ctx, file), of, progress.reach)
		progress.end()
	}
	if err != nil {
		return err
	}
	if summary.Counts == (imports.Counts{}) && summary.Others > 0 {
		p.say("none of %d lines is of a known AI crawler (docs/platforms.md) that asked for a site of the brand", summary.Others)
	}
	return p.printCounts(c.JSON, summary, summary.Counts)
}

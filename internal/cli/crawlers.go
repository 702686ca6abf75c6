package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/imports"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

type crawlersCmd struct {
	Import crawlerImport `cmd:"" help:"Count the requests of AI crawlers in an access log."`
}

type crawlerImport struct {
	File   string   `arg:"" help:"An access log, which may be gzip; - is stdin."`
	Org    string   `required:"" placeholder:"SLUG" help:"Whose site was crawled."`
	Brand  string   `required:"" placeholder:"SLUG" help:"Of which brand."`
	Format string   `default:"combined" enum:"combined,cloudflare,cloudfront" help:"{crawler_import_format}"`
	Site   string   `placeholder:"HOST" help:"{crawler_import_site}"`
	Ranges []string `sep:"none" placeholder:"[CRAWLER=]FILE" help:"{crawler_import_ranges}"`
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
	on, err := p.connect(ctx, service.Everything)
	if err != nil {
		return err
	}
	log, err := c.accessLog(ctx, on.DB)
	if err != nil {
		return err
	}
	log.Ranges, log.Refused = ranges, func(r imports.Refusal) { p.say("line %d: %s", r.Line, r.Reason) }
	return withProducer(ctx, on, func(ctx context.Context, appends *producer.Producer) error {
		return c.importLog(ctx, p, newImporter(on, appends), log)
	})
}

// ranges reads the files of addresses.
func (c *crawlerImport) ranges() (imports.Ranges, error) {
	ranges := imports.Ranges{}
	for _, arg := range c.Ranges {
		crawler, name, named := strings.Cut(arg, "=")
		if !named {
			crawler, name = "", arg
		} else if err := imports.CheckCrawler(crawler); err != nil {
			return nil, usageError{fmt.Errorf("--ranges %s: %w", arg, err)}
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

// accessLog describes the log: its brand, and the sites whose lines count.
func (c *crawlerImport) accessLog(ctx context.Context, db *postgres.DB) (log imports.AccessLog, err error) {
	organization, brand, err := findBrand(ctx, db, c.Org, c.Brand)
	if err != nil {
		return log, err
	}
	snapshot, err := db.Snapshot(ctx, brand.ID)
	if err != nil {
		return log, err
	}
	domains := snapshot.Domains
	log = imports.AccessLog{OrganizationID: organization.ID, BrandID: brand.ID, Format: imports.Format(c.Format),
		Sites: domains}
	site := strings.ToLower(strings.TrimSuffix(c.Site, "."))
	below := func(domain string) bool { return site == domain || strings.HasSuffix(site, "."+domain) }
	switch {
	case site == "" && len(domains) == 0:
		return log, usageError{fmt.Errorf("brand %s has no domains: want --site", c.Brand)}
	case site == "":
		log.Site, log.Assumed = domains[0], true
	case len(domains) > 0 && !slices.ContainsFunc(domains, below):
		return log, usageError{fmt.Errorf("--site %s: want a domain of the brand (%s) or one below", c.Site,
			strings.Join(domains, ", "))}
	default:
		log.Site, log.Sites = site, []string{site}
	}
	return log, nil
}

// importLog imports a file to its end or, with --follow, it and those that take its name until ctx ends, which is no
// failure.
func (c *crawlerImport) importLog(
	ctx context.Context, p *process, in *imports.Importer, log imports.AccessLog,
) (err error) {
	const task = "crawlers import: bytes read"
	var summary imports.AccessLogSummary
	if c.Follow {
		progress := p.newMeter(task, 0)
		summary, err = in.FollowAccessLog(ctx, c.File, log, progress.reach, func(err error, pause time.Duration) {
			p.say("%v; trying again in %s", err, pause)
		})
		progress.end()
	} else {
		file, size, openErr := openInput(p, c.File)
		if openErr != nil {
			return openErr
		}
		defer file.Close()
		progress := p.newMeter(task, size)
		summary, err = in.ImportAccessLog(ctx, cancelableReader(ctx, file), log, progress.reach)
		progress.end()
	}
	if err != nil {
		return err
	}
	p.sayOthers(&summary)
	return p.printCounts(c.JSON, summary, summary.Counts)
}

// sayOthers prints the lines that were passed over, since they may have been passed over wrongly.
func (p *process) sayOthers(summary *imports.AccessLogSummary) {
	p.say("others: %d lines of no known AI crawler (docs/platforms.md), or of other sites%s%s", summary.Others,
		passed("; most requested by AI crawlers of other sites: ", summary.Hosts),
		passed("; most frequent agents that may be crawlers and are not known: ", summary.Agents))
}

func passed(title string, all []imports.Passed) string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = fmt.Sprintf("%s (%d)", one.Name, one.Lines)
	}
	if len(names) == 0 {
		return ""
	}
	return title + strings.Join(names, ", ")
}

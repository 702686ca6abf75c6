package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/answerscope/answerscope/pipeline/notify"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/pipeline/notify/mail"
	"github.com/answerscope/answerscope/sql/postgres"
)

// reportCmd is the command report.
type reportCmd struct {
	Brand  string `arg:"" help:"Slug of the brand."`
	Org    string `placeholder:"SLUG" help:"Whose brand (default: the only one's that has it)."`
	Week   string `placeholder:"2026-W46" help:"ISO week of UTC days (default: the last that has ended)."`
	Format string `default:"text" enum:"text,html" help:"text or html, the parts of the mail (default: text)."`
	JSON   bool   `name:"json" help:"One JSON document, the data of the event report.weekly."`
}

func (c *reportCmd) Run(ctx context.Context, p *process, on databases) error {
	monday, err := notify.ParseWeek(c.Week, time.Now())
	if err != nil {
		return usageError{fmt.Errorf("--week %w", err)}
	}
	brand, err := findAnyBrand(ctx, on.DB, c.Org, c.Brand)
	if err != nil {
		return err
	}
	reporter := notify.NewReporter(on.DB, on.Warehouse, time.Now, on.Log)
	report, message, err := weekly(ctx, reporter, brand, monday, publicURL(on.Engines))
	if c.Format == "html" {
		message.Text = message.HTML
	}
	if err != nil {
		return err
	}
	return p.printResult(c.JSON, report, message.Text)
}

// weekly returns the report of a brand's week, and the mail about it.
func weekly(
	ctx context.Context, reporter *notify.Reporter, brand postgres.Brand, monday time.Time, base string,
) (report feed.Report, message mail.Message, err error) {
	if report, err = reporter.Report(ctx, brand, monday); err != nil {
		return report, message, err
	}
	data, err := json.Marshal(report)
	if err != nil {
		return report, message, err
	}
	message, err = mail.Write(postgres.Mail{Template: feed.ReportWeekly, Data: data}, base)
	return report, message, err
}

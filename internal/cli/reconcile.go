package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/reconcile"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/rollup"
)

// reconcileCmd is the command reconcile.
type reconcileCmd struct {
	From  string `placeholder:"MONTH" help:"First month, as 2026-03 (default: the first that there is)."`
	To    string `placeholder:"MONTH" help:"Last month (default: the last that there is)."`
	Org   string `placeholder:"SLUG" help:"Compare only the rows of an organization."`
	Brand string `placeholder:"SLUG" help:"Compare only the rows of a brand of --org."`
	Fix   bool   `help:"Rebuild what differs from the landing tables; a month is rebuilt for all organizations."`
	JSON  bool   `name:"json" help:"One JSON document."`
}

// errDiffers is the result of a command that has printed differences and leaves them.
var errDiffers = errors.New("rollups are not what their landing rows make")

func (c *reconcileCmd) Run(ctx context.Context, p *process) error {
	scope, err := c.scope()
	if err != nil {
		return usageError{err}
	}
	on, err := p.connect(ctx, service.Everything)
	if err != nil {
		return err
	}
	if c.Org != "" {
		organization, brand, err := findBrand(ctx, on.DB, c.Org, c.Brand)
		if err != nil {
			return err
		}
		scope.Owner = rollup.Owner{OrganizationID: clickhouse.UUID(organization.ID), BrandID: clickhouse.UUID(brand.ID)}
	}
	reconciler, err := pipeline.NewReconciler(pipelineDeps(on, prometheus.NewRegistry()))
	if err != nil {
		return err
	}
	progress := p.newMeter("reconcile: months of rollups", 0)
	report, err := reconciler.Reconcile(ctx, scope,
		func(done, total int) { progress.reachOf(int64(done), int64(total)) })
	progress.end()
	if report == nil {
		return err
	}
	return errors.Join(err, c.report(p, report))
}

// scope reads the flags, without the brand.
func (c *reconcileCmd) scope() (s reconcile.Scope, err error) {
	if c.Brand != "" && c.Org == "" {
		return s, errors.New("--brand needs --org")
	}
	if c.Fix {
		s.Repair = reconcile.RepairAll
	}
	month := func(text string) (m clickhouse.Month) {
		if text == "" {
			return 0
		}
		m, wrong := clickhouse.ParseMonth(text)
		err = errors.Join(err, wrong)
		return m
	}
	s.From, s.To = month(c.From), month(c.To)
	if err == nil && s.To != 0 && s.From > s.To {
		err = fmt.Errorf("--from %s is after --to %s", s.From, s.To)
	}
	return s, err
}

func (c *reconcileCmd) report(p *process, report *reconcile.Report) error {
	lines := []string{}
	for _, f := range report.Findings {
		lines = append(lines, findingLine(&f))
	}
	lines = append(lines, fmt.Sprintf("compared %d, repaired %d, left %d, frozen %d", report.Compared, report.Repaired,
		report.Open, len(report.Frozen)))
	if err := p.printResult(c.JSON, report, strings.Join(lines, "\n")); err != nil || report.Open == 0 {
		return err
	}
	err := fmt.Errorf("%w: %d of %d months of rollups", errDiffers, report.Open, report.Compared)
	switch {
	case slices.ContainsFunc(report.Findings, func(f reconcile.Finding) bool { return f.State == reconcile.Kept }):
		err = fmt.Errorf("%w; what is kept may have rows that its landing table has lost: restore them before "+
			"anything is rebuilt, see Reconciling in docs/operations.md", err)
	case !c.Fix:
		err = fmt.Errorf("%w; to rebuild them run: answerscope reconcile --fix", err)
	}
	return err
}

// findingLine is a finding as a person reads it.
func findingLine(f *reconcile.Finding) string {
	line := f.State + " " + f.Table
	if f.Month != 0 {
		line += " " + f.Month.String()
	}
	var parts []string
	for _, d := range f.Differences {
		parts = append(parts, d.String())
	}
	for _, o := range f.Offsets {
		parts = append(parts, fmt.Sprintf("%s/%d %d, want %d", o.Topic, o.Partition, o.Have, o.Want))
	}
	if f.Surplus > 0 {
		parts = append(parts, fmt.Sprintf("%d duplicate rows", f.Surplus))
	}
	if len(f.Brands) > 0 {
		var ids []string
		for _, b := range f.Brands {
			ids = append(ids, b.BrandID.String())
		}
		parts = append(parts, "brands "+strings.Join(ids, " "))
	}
	if f.Cause != "" {
		parts = append(parts, f.Cause)
	}
	return line + ": " + strings.Join(parts, "; ")
}

// recoverCmd is the command recover.
type recoverCmd struct {
	Table string `arg:"" enum:"${topic_names}" help:"The table that has lost rows: ${topics}."`
	Month string `arg:"" placeholder:"MONTH" help:"The month that it has lost them of, as 2026-11."`
}

func (c *recoverCmd) Run(ctx context.Context, p *process) error {
	month, err := clickhouse.ParseMonth(c.Month)
	if err != nil {
		return usageError{err}
	}
	on, err := p.connect(ctx, service.Everything)
	if err != nil {
		return err
	}
	var progress *meter // from the first record on
	result, err := pipeline.Recover(ctx, pipelineDeps(on, prometheus.NewRegistry()), c.Table, month,
		func(done, total int64) {
			if progress == nil {
				progress = p.newMeter("recover: records read", total)
			}
			progress.reach(done)
		})
	if progress != nil {
		progress.end()
	}
	if err != nil {
		return err
	}
	if !result.LogBegins.IsZero() {
		p.say("records that were appended before %s may have left the log: their rows, if they were lost, are not back",
			result.LogBegins.Format(time.DateTime))
	}
	p.say("next: answerscope reconcile --from %s --to %[1]s; see AnswerscopeBrokenParts in docs/operations.md", month)
	return p.printJSON(result)
}

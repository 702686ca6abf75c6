package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/internal/disk"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline"
	"github.com/answerscope/answerscope/pipeline/consume"
)

// statusCmd shows what runs.
type statusCmd struct {
	JSON bool `name:"json" help:"One JSON document."`
}

// state is what status shows. No credential is in it.
type state struct {
	Build       build       `json:"build"`
	DataDir     string      `json:"data_dir"`
	DiskFree    *int64      `json:"disk_free_bytes"`   // null: there is no such directory, as beside engines elsewhere
	Command     string      `json:"command,omitempty"` // that owns the embedded engines
	PID         int         `json:"pid,omitempty"`
	Address     string      `json:"address,omitempty"`
	ClickHouse  string      `json:"clickhouse"`
	PostgreSQL  string      `json:"postgresql"`
	Kafka       []string    `json:"kafka"`
	Topics      []topicLag  `json:"topics"`
	Credentials []keyHolder `json:"keys"`
}

// topicLag is how many records of a topic have not landed.
type topicLag struct {
	Topic   string `json:"topic"`
	Records int64  `json:"records"` // ever appended
	Lag     int64  `json:"lag_records"`
}

// keyHolder is a valid key of an organization.
type keyHolder struct {
	Organization string `json:"organization"`
	Prefix       string `json:"prefix"`
	Name         string `json:"name"`
	Email        string `json:"email"`
}

func (c *statusCmd) Run(ctx context.Context, p *process) error {
	s := state{Build: thisBuild(), DataDir: p.Settings.DataDir}
	owner, err := engine.Running(p.Settings.DataDir)
	if err != nil {
		return err
	}
	if p.Embedded(service.Everything) != (service.Needs{}) {
		if owner == nil {
			return fmt.Errorf(
				"nothing runs on %s: start it with `answerscope all`, or name the directory with --data-dir",
				p.Settings.DataDir)
		}
		s.Command, s.PID, s.Address = owner.Owner, owner.PID, owner.Address
	}
	if free, ok := disk.Free(p.Settings.DataDir); ok {
		s.DiskFree = &free
	}
	on, err := p.connect(ctx, service.Everything)
	if err == nil {
		err = s.read(ctx, on)
	}
	if !c.JSON { // the rest is shown even where an engine does not answer
		return errors.Join(s.print(p), err)
	}
	if err != nil {
		return err
	}
	return p.printJSON(s)
}

// read asks the engines.
func (s *state) read(ctx context.Context, on *service.Engines) error {
	s.PostgreSQL, s.Kafka = config.NewDSN(on.Postgres.DSN).Masked(), on.Kafka.Brokers
	if s.ClickHouse = on.Settings.Shards.Masked(); s.ClickHouse == "" {
		s.ClickHouse = config.NewDSN(on.ClickHouse.DSN).Masked()
	}
	for _, sink := range pipeline.Sinks(on.Settings.Kafka.TopicPrefix) {
		positions, err := consume.Positions(ctx, on.Kafka, sink.Group, sink.Topic)
		if err != nil {
			return err
		}
		lag := topicLag{Topic: sink.Topic}
		for _, at := range positions {
			lag.Records += at.End
			lag.Lag += at.End - max(0, at.Committed)
		}
		s.Topics = append(s.Topics, lag)
	}
	organizations, err := on.DB.ListOrganizations(ctx)
	if err != nil {
		return err
	}
	for _, o := range organizations {
		keys, err := on.DB.ListKeys(ctx, o.ID)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.RevokedAt == nil {
				s.Credentials = append(s.Credentials, keyHolder{o.Slug, k.Prefix, k.Name, k.Email})
			}
		}
	}
	return nil
}

func (s *state) print(p *process) error {
	lines := []string{s.Build.String()}
	if s.DiskFree != nil {
		lines = append(lines, fmt.Sprintf("data directory\t%s, %d MB free", s.DataDir, *s.DiskFree>>20))
	}
	if s.Command != "" {
		lines = append(lines, fmt.Sprintf("answerscope %s\t%s (pid %d)", s.Command, s.Address, s.PID))
	}
	for _, e := range [][2]string{{"ClickHouse", s.ClickHouse}, {"PostgreSQL", s.PostgreSQL},
		{"Kafka", strings.Join(s.Kafka, ", ")}} {
		if e[1] != "" {
			lines = append(lines, e[0]+"\t"+e[1])
		}
	}
	for _, t := range s.Topics {
		landed := fmt.Sprintf("%d of them not landed yet", t.Lag)
		if t.Lag < 0 {
			landed = fmt.Sprintf("%d fewer than have landed: the log was replaced or cut off; /readyz names the "+
				"partitions", -t.Lag)
		}
		lines = append(lines, fmt.Sprintf("topic %s\t%d records, %s", t.Topic, t.Records, landed))
	}
	for _, k := range s.Credentials {
		lines = append(lines, fmt.Sprintf("key %s…\t%s of %s (%s)", k.Prefix, k.Name, k.Organization, k.Email))
	}
	if err := printList(p, false, lines, func(line string) string { return line }); err != nil || s.Command != "demo" {
		return err
	}
	text, err := os.ReadFile(filepath.Join(p.Settings.DataDir, demoText))
	if err != nil {
		return fmt.Errorf("read what the demo printed: %w", err)
	}
	return p.print("\n" + strings.TrimSuffix(string(text), "\n"))
}

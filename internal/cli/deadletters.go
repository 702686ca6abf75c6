package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/producer"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/pipeline/upkeep"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

type deadLettersCmd struct {
	List   deadLetterList   `cmd:"" help:"List records that were put aside."`
	Show   deadLetterShow   `cmd:"" help:"Show one of them."`
	Replay deadLetterReplay `cmd:"" help:"Append them to the log again."`
}

// deadLetterFilter narrows what a command is about.
type deadLetterFilter struct {
	Topic     string `placeholder:"TOPIC" help:"Only dead letters of a topic: ${topics}, without the prefix."`
	Partition *int32 `placeholder:"N" help:"Only dead letters of a partition."`
	Reason    string `placeholder:"REASON" help:"Only dead letters with a reason: malformed or \"month frozen\"."`
	From      string `placeholder:"DAY" help:"Appended on that day or later, UTC, as 2026-03-02."`
	To        string `placeholder:"DAY" help:"Appended on that day or earlier."`
}

// Validate checks the topic and the days.
func (f *deadLetterFilter) Validate() error {
	_, _, err := parseDays(f.From, f.To)
	if f.Topic != "" && !event.IsTopic(f.Topic) {
		err = errors.Join(fmt.Errorf("topic %q: want one of %q", f.Topic, event.TopicNames()), err)
	}
	return err
}

func (f *deadLetterFilter) filter(p *process) clickhouse.DeadLetterFilter {
	filter := clickhouse.DeadLetterFilter{DateFrom: clickhouse.Day(f.From), DateTo: clickhouse.Day(f.To)}
	if f.Topic != "" {
		filter.Topics = []string{p.Settings.Kafka.TopicPrefix + f.Topic}
	}
	if f.Partition != nil {
		filter.Partitions = []int32{*f.Partition}
	}
	if f.Reason != "" {
		filter.Reasons = []string{f.Reason}
	}
	return filter
}

type deadLetterList struct {
	deadLetterFilter `embed:""`
	Replayed         bool `help:"Those too that were replayed."`
	JSON             bool `name:"json" help:"One JSON object a line."`
}

func (c *deadLetterList) Run(ctx context.Context, p *process, on databases) error {
	return upkeep.EachDeadLetter(ctx, on.Warehouse, c.filter(p), func(l upkeep.DeadLetter) error {
		switch {
		case !l.ReplayedAt.IsZero() && !c.Replayed:
			return nil
		case c.JSON:
			return p.printJSON(newListedDeadLetter(&l))
		}
		line := fmt.Sprintf("%s  %s  %s  %s", l.LogPosition, l.AppendedAt.Format(time.DateTime), stateOf(&l),
			firstLine(l.Detail))
		return p.print(strings.TrimRight(line, " "))
	})
}

// A listedDeadLetter is a dead letter in a list.
type listedDeadLetter struct {
	Record     string     `json:"record"` // what show and replay take
	Topic      string     `json:"topic"`  // with its prefix
	Partition  int32      `json:"partition"`
	Offset     int64      `json:"offset"`
	AppendedAt time.Time  `json:"appended_at"`
	Reason     string     `json:"reason"`
	Detail     string     `json:"detail"`
	Key        string     `json:"key"`
	Bytes      uint64     `json:"bytes"` // of key and value
	ReplayedAt *time.Time `json:"replayed_at"`
}

func newListedDeadLetter(l *upkeep.DeadLetter) listedDeadLetter {
	listed := listedDeadLetter{
		Record: l.LogPosition.String(), Topic: l.Topic, Partition: l.Partition, Offset: l.Offset,
		AppendedAt: l.AppendedAt,
		Reason:     l.Reason, Detail: l.Detail, Key: strings.ToValidUTF8(l.Key, "�"), Bytes: l.Bytes,
	}
	if !l.ReplayedAt.IsZero() {
		listed.ReplayedAt = &l.ReplayedAt
	}
	return listed
}

// stateOf is the reason of a dead letter, and when it was replayed.
func stateOf(l *upkeep.DeadLetter) string {
	if l.ReplayedAt.IsZero() {
		return l.Reason
	}
	return l.Reason + ", replayed " + l.ReplayedAt.Format(time.DateTime)
}

// firstLine is the first line of a text, cut to 200 characters.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > 200 {
		line = string(runes[:200]) + "…"
	}
	return line
}

type deadLetterShow struct {
	Record string `arg:"" placeholder:"TOPIC/PARTITION@OFFSET" help:"The record, as deadletters list prints it."`
	Raw    bool   `xor:"form" help:"The bytes of its value and nothing else."`
	JSON   bool   `name:"json" xor:"form" help:"One JSON document."`

	position clickhouse.LogPosition
}

// Validate checks the record's position.
func (c *deadLetterShow) Validate() (err error) {
	c.position, err = clickhouse.ParseLogPosition(c.Record)
	return err
}

func (c *deadLetterShow) Run(ctx context.Context, p *process, on databases) error {
	at := c.position
	letters, err := clickhouse.DeadLettersAt(ctx, on.Warehouse, at.Topic, at.Partition, []int64{at.Offset})
	if err != nil {
		return err
	}
	if len(letters) == 0 {
		return fmt.Errorf("there is no dead letter %s", at)
	}
	if c.Raw {
		if _, err := p.stdout.Write([]byte(letters[0].Value)); err != nil {
			return fmt.Errorf("print value of %s: %w", at, err)
		}
		return nil
	}
	return upkeep.EachDeadLetter(ctx, on.Warehouse, at.Filter(), func(l upkeep.DeadLetter) error {
		if c.JSON {
			return p.printJSON(deadLetterDocument(&l, &letters[0]))
		}
		return p.print(deadLetterText(&l, &letters[0]))
	})
}

// deadLetterDocument is a whole dead letter as JSON. A value that is no UTF-8 comes as base64.
func deadLetterDocument(l *upkeep.DeadLetter, letter *clickhouse.DeadLetter) any {
	type header struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	document := struct {
		listedDeadLetter
		Value       *string  `json:"value,omitempty"`
		ValueBase64 string   `json:"value_base64,omitempty"`
		Headers     []header `json:"headers"`
	}{listedDeadLetter: newListedDeadLetter(l), Headers: []header{}}
	if utf8.ValidString(letter.Value) {
		document.Value = &letter.Value
	} else {
		document.ValueBase64 = base64.StdEncoding.EncodeToString([]byte(letter.Value))
	}
	for i, key := range letter.HeaderKeys {
		document.Headers = append(document.Headers, header{key, strings.ToValidUTF8(letter.HeaderValues[i], "�")})
	}
	return document
}

// deadLetterText is a whole dead letter for people.
func deadLetterText(l *upkeep.DeadLetter, letter *clickhouse.DeadLetter) string {
	lines := []string{
		"record    " + l.LogPosition.String(), "appended  " + l.AppendedAt.Format(time.RFC3339Nano),
		"reason    " + stateOf(l),
		"detail    " + strings.ReplaceAll(letter.Detail, "\n", "\n          "), fmt.Sprintf("key       %q", letter.Key),
	}
	for i, key := range letter.HeaderKeys {
		lines = append(lines, fmt.Sprintf("header    %s: %q", key, letter.HeaderValues[i]))
	}
	value := letter.Value
	if !utf8.ValidString(value) {
		value = fmt.Sprintf("%q", value)
	}
	return strings.Join(append(lines, "", value), "\n")
}

type deadLetterReplay struct {
	deadLetterFilter `embed:""`
	Records          []string `arg:"" optional:"" name:"record" placeholder:"TOPIC/PARTITION@OFFSET" help:"Only these."`
	All              bool     `help:"All that were not replayed."`
	JSON             bool     `name:"json" help:"One JSON document, with what was refused."`
}

func (c *deadLetterReplay) Run(ctx context.Context, p *process) error {
	filters, err := c.filters(p)
	if err != nil {
		return usageError{err}
	}
	on, err := p.connect(ctx, service.Everything)
	if err != nil {
		return err
	}
	return withProducer(ctx, on, func(ctx context.Context, appends *producer.Producer) error {
		return c.replay(ctx, p, upkeep.NewReplayer(on.Warehouse, appends, p.Settings.Kafka.TopicPrefix), filters)
	})
}

// filters select what to replay: records by their positions, or all that match the flags.
func (c *deadLetterReplay) filters(p *process) ([]clickhouse.DeadLetterFilter, error) {
	narrowed := c.deadLetterFilter != deadLetterFilter{}
	if n := len(c.Records); n == 0 && !narrowed && !c.All {
		return nil, errors.New("want records, a filter, or --all")
	} else if n > 0 && (narrowed || c.All) {
		return nil, errors.New("want records or a filter, not both")
	}
	if len(c.Records) == 0 {
		return []clickhouse.DeadLetterFilter{c.filter(p)}, nil
	}
	var filters []clickhouse.DeadLetterFilter
	for _, text := range c.Records {
		at, err := clickhouse.ParseLogPosition(text)
		if err != nil {
			return nil, err
		}
		filters = append(filters, at.Filter())
	}
	return filters, nil
}

func (c *deadLetterReplay) replay(
	ctx context.Context, p *process, replayer *upkeep.Replayer, filters []clickhouse.DeadLetterFilter,
) error {
	var total upkeep.ReplaySummary
	refusals := []upkeep.ReplayRefusal{}
	progress := p.newMeter("replay: records appended", 0)
	refuse := func(r upkeep.ReplayRefusal) {
		p.say("%s: %s", r.LogPosition, r.Reason)
		refusals = append(refusals, r)
	}
	for _, filter := range filters {
		done, err := replayer.Replay(ctx, filter, refuse, func(n int) { progress.reach(int64(total.Replayed + n)) })
		total.Replayed, total.Skipped, total.Refused = total.Replayed+done.Replayed, total.Skipped+done.Skipped,
			total.Refused+done.Refused
		if err == nil && len(c.Records) > 0 && done == (upkeep.ReplaySummary{}) {
			err = fmt.Errorf("there is no dead letter %s/%d@%d", filter.Topics[0], filter.Partitions[0],
				filter.Offsets[0])
		}
		if err != nil {
			progress.end()
			return fmt.Errorf("replayed %d records, which are marked, then: %w", total.Replayed, err)
		}
	}
	progress.end()
	var result any = total
	if c.JSON {
		result = struct {
			upkeep.ReplaySummary
			Refusals []upkeep.ReplayRefusal `json:"refusals"`
		}{total, refusals}
	}
	if err := p.printJSON(result); err != nil || total.Refused == 0 {
		return err
	}
	return errRefused
}

package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
)

// A pipelineProcess is answerscope pipeline, started as a person would.
type pipelineProcess struct {
	*child
	reading chan time.Time // when it was given the partitions of topic visits, once
}

// startPipeline starts one on the laboratory's engines.
func (l *laboratory) startPipeline(ctx context.Context, database, prefix string) (*pipelineProcess, error) {
	warehouse, err := l.database(database)
	if err != nil {
		return nil, err
	}
	cmd, err := answerscope(ctx, []string{
		"ANSWERSCOPE_CLICKHOUSE_DSN=" + warehouse, "ANSWERSCOPE_POSTGRES_DSN=" + l.control,
		"ANSWERSCOPE_KAFKA_BROKERS=" + strings.Join(l.connection.Brokers, ","), "ANSWERSCOPE_KAFKA_TOPIC_PREFIX=" + prefix,
	}, "pipeline", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &pipelineProcess{reading: make(chan time.Time, 1)}
	topic, told := "topic="+prefix+event.TopicVisits+" ", false
	p.child, err = startChild(cmd, func(line string) {
		if !told && strings.Contains(line, `msg="partitions assigned"`) && strings.Contains(line, topic) {
			told = true
			p.reading <- time.Now()
		}
	})
	return p, err
}

// assigned waits until it has its partitions, and says since when.
func (p *pipelineProcess) assigned(ctx context.Context) (time.Time, error) {
	select {
	case since := <-p.reading:
		return since, nil
	case <-p.ended:
		return time.Time{}, fmt.Errorf("pipeline ended before it read:\n%s", p.last())
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

package sink

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Crawls is the sink of topic crawls.
type Crawls = Sink[clickhouse.CrawlRow]

// Crawl is an item of Crawls.
type Crawl = Item[clickhouse.CrawlRow]

// NewCrawls returns the sink of topic crawls.
func NewCrawls(conn *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) *Crawls {
	return newSink(topic[clickhouse.CrawlRow]{
		name:     event.TopicCrawls,
		table:    clickhouse.Crawls,
		version:  noExtractor,
		supports: func(version int) bool { return version == noExtractor },
		decode:   decodeCrawl,
		landed:   clickhouse.Crawls.Landed,
	}, conn, registerer, log)
}

func decodeCrawl(_ int, r consume.Record) (row clickhouse.CrawlRow, _ bool, err error) {
	var c event.Crawl
	if err := event.DecodeCrawl(r.Value, &c); err != nil {
		return row, false, err
	}
	return crawlRow(&r, &c), false, nil
}

// crawlRow makes the landing row of a record.
func crawlRow(record *consume.Record, c *event.Crawl) clickhouse.CrawlRow {
	return clickhouse.CrawlRow{
		OrganizationID: clickhouse.UUID(c.OrganizationID),
		BrandID:        clickhouse.UUID(c.BrandID),
		Day:            c.At.Truncate(24 * time.Hour),
		ID:             clickhouse.UUID(c.ID),
		LogTopic:       record.Topic,
		LogPartition:   record.Partition,
		LogOffset:      record.Offset,

		At:        c.At.Time,
		Crawler:   c.Crawler,
		Operator:  c.Operator,
		Platform:  c.Platform,
		Purpose:   string(c.Purpose),
		Host:      c.Host,
		Path:      c.Path,
		Status:    uint16(c.Status), // the decoder bounds it
		Bytes:     c.Bytes,
		Verified:  c.Verified,
		Simulated: c.Simulated,
	}
}

package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/pipeline/consume"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// Crawls lands topic crawls. It is safe for concurrent use.
//
// Every id is looked up, as those of answers are: a log may be read again after
// months, so that what was told last says nothing of what has landed. Its records come
// to one partition, as their key is the brand's id, and so one after the other.
type Crawls struct {
	landing[clickhouse.CrawlRow]
}

// NewCrawls does nothing yet.
func NewCrawls(conn *clickhouse.Conn, registerer prometheus.Registerer, log *slog.Logger) *Crawls {
	return &Crawls{newLanding(clickhouse.Crawls, conn, registerer, log)}
}

// Crawl is a record as a row of the landing table, or of the dead letters.
type Crawl struct {
	row  clickhouse.CrawlRow
	dead *clickhouse.DeadLetter
}

// crawlsVersion is what plans name: a crawl is read by no extractor.
const crawlsVersion = 1

// Version is always the same.
func (s *Crawls) Version() int { return crawlsVersion }

// Supports says whether version is that one.
func (s *Crawls) Supports(version int) bool { return version == crawlsVersion }

// Read makes the row of a record. What cannot be understood becomes a dead
// letter, byte for byte; a record of a newer version is not touched.
func (s *Crawls) Read(_ int, r consume.Record) (item Crawl, month int, err error) {
	var c event.Crawl
	err = event.DecodeCrawl(r.Value, &c)
	if errors.Is(err, event.ErrNewer) {
		return Crawl{}, 0, fmt.Errorf("%w: %w", consume.ErrNewer, err)
	}
	if err != nil {
		item.dead, month = deadLetter(&r, "malformed", err.Error())
		return item, month, nil
	}
	item.row = crawlRow(&r, &c)
	return item, monthOf(item.row.Day), nil
}

// crawlRow is the landing row of a record.
func crawlRow(at *consume.Record, c *event.Crawl) clickhouse.CrawlRow {
	return clickhouse.CrawlRow{
		OrganizationID: clickhouse.UUID(c.OrganizationID),
		BrandID:        clickhouse.UUID(c.BrandID),
		Day:            c.At.Truncate(24 * time.Hour),
		ID:             clickhouse.UUID(c.ID),
		LogTopic:       at.Topic,
		LogPartition:   at.Partition,
		LogOffset:      at.Offset,

		At:        c.At.Time,
		Crawler:   c.Crawler,
		Operator:  c.Operator,
		Platform:  c.Platform,
		Purpose:   string(c.Purpose),
		Host:      c.Host,
		Path:      c.Path,
		Status:    uint16(c.Status), // the law of the record bounds it
		Bytes:     c.Bytes,
		Verified:  c.Verified,
		Simulated: c.Simulated,
	}
}

// Land inserts what the batch tells first.
func (s *Crawls) Land(ctx context.Context, b *consume.Batch[Crawl], ours func() error) error {
	fates, err := fates(ctx, b.Hold, event.TopicCrawls, len(b.Items), func(i int) (about, bool) {
		item := &b.Items[i]
		return about{item.row.OrganizationID, item.row.BrandID, item.row.Day}, item.dead == nil
	})
	if err != nil {
		return err
	}
	late, err := frozenLetters(ctx, b, event.TopicCrawls, fates, func(i int) time.Time { return b.Items[i].row.Day })
	if err != nil {
		return err
	}
	known, err := s.known(ctx, b, fates)
	if err != nil {
		return err
	}
	rows := make([]clickhouse.CrawlRow, 0, len(b.Items))
	var letters []clickhouse.DeadLetter
	var of outcomes
	for i := range b.Items {
		switch item := &b.Items[i]; {
		case fates[i] == unread:
			letters = append(letters, *item.dead)
		case fates[i] == gone:
			of.add(deleted)
		case fates[i] == frozen:
			letters, late = append(letters, late[0]), late[1:]
		case known[keyOfCrawl(&item.row)]:
			of.add(repeated)
		default:
			known[keyOfCrawl(&item.row)] = true
			rows = append(rows, item.row)
			of.add(told)
		}
	}
	_, err = s.take(ctx, sendingOf(b), rows, letters, of, ours)
	return err
}

// known are the crawls of the batch that have landed below it.
func (s *Crawls) known(ctx context.Context, b *consume.Batch[Crawl], fates []fate) (map[clickhouse.CrawlKey]bool, error) {
	var keys []clickhouse.CrawlKey
	for i := range b.Items {
		if fates[i] == lives {
			keys = append(keys, keyOfCrawl(&b.Items[i].row))
		}
	}
	below := clickhouse.Below{Topic: b.Topic, Partition: b.Partition, Offset: b.First}
	return clickhouse.LandedCrawls(ctx, s.conn, keys, due, below)
}

func keyOfCrawl(row *clickhouse.CrawlRow) clickhouse.CrawlKey {
	return clickhouse.CrawlKey{OrganizationID: row.OrganizationID, BrandID: row.BrandID, ID: row.ID}
}

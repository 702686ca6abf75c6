package metrics

import (
	"cmp"
	"context"
	"slices"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/sql/clickhouse"
)

// matrixBody answers GET /api/v1/prompt-matrix.
type matrixBody struct {
	Brand      brandName          `json:"brand"`
	Window     windowBody         `json:"window"`
	By         clickhouse.GroupBy `json:"by"`
	Columns    []matrixColumn     `json:"columns"` // of all pages, by answers: the first maxGroups
	Rows       []matrixRow        `json:"rows"`
	NextCursor *string            `json:"next_cursor"` // null at the end
}

// matrixColumn has all answers of a platform, model or region.
type matrixColumn struct {
	Key string `json:"key"` // "": the answers without one
	namedShare
}

type matrixRow struct {
	PromptID   string  `json:"prompt_id"`
	PromptText string  `json:"prompt_text"`
	TopicID    *string `json:"topic_id"` // null without topic, or when it was deleted
	TopicName  *string `json:"topic_name"`
	Branded    bool    `json:"branded"`
	namedShare
	Cells []matrixCell `json:"cells"` // of the columns, with answers, by key
}

type matrixCell struct {
	Key string `json:"key"`
	namedShare
}

// namedShare is the share of answers that name the brand.
type namedShare struct {
	N              int64     `json:"n"`
	MentionAnswers int64     `json:"mention_answers"`
	Rate           *float64  `json:"rate"`
	Interval       *interval `json:"interval"` // of one prompt null under 5 answers
}

// matrixPosition is the position of a prompt in the matrix.
type matrixPosition struct {
	SortKey string `json:"sort_key"`
}

func (a *API) promptMatrix(ctx context.Context, caller identity.Identity, q *query) (any, error) {
	p := q.common(a.now())
	by := clickhouse.GroupBy(q.oneOf("by",
		string(clickhouse.ByPlatform), string(clickhouse.ByModel), string(clickhouse.ByRegion)))
	limit := q.number("limit", 10, 1, 200)
	matrix := clickhouse.MatrixFilter{GroupBy: by}
	matrix.Filter = p.filter(caller.OrganizationID)
	matrix.Limit = limit + 1 // one more shows whether there is a next page
	filters := digest("matrix", matrix.Filter, by)
	if after := readCursor[matrixPosition](q, filters); after != nil {
		matrix.AfterRow = after.SortKey
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	brand, err := a.findBrand(ctx, caller, p.brandID)
	if err != nil {
		return nil, err
	}
	body := matrixBody{
		Brand: brandName{brand.ID.String(), brand.Name}, By: by,
		Window: p.window.body(),
	}
	var rows []clickhouse.PromptCells
	var columns []clickhouse.Bucket
	window := clickhouse.BucketFilter{
		GroupFilter: clickhouse.GroupFilter{Filter: matrix.Filter, GroupBy: by}, Granularity: clickhouse.ByWindow,
	}
	err = a.runAll(ctx,
		fetch(&rows, clickhouse.PromptMatrix, matrix), fetch(&columns, clickhouse.BrandVisibility, window))
	if err != nil {
		return nil, err
	}
	body.Columns = newMatrixColumns(columns)
	rows, body.NextCursor = firstPage(rows, limit, filters, func(row clickhouse.PromptCells) matrixPosition {
		return matrixPosition{row.SortKey}
	})
	body.Rows = make([]matrixRow, len(rows))
	for i, row := range rows {
		body.Rows[i] = newMatrixRow(row, body.Columns)
	}
	return body, nil
}

func newMatrixColumns(rows []clickhouse.Bucket) []matrixColumn {
	rows = slices.DeleteFunc(rows, func(r clickhouse.Bucket) bool { return r.Answers == 0 }) // given up or not shown
	slices.SortStableFunc(rows, func(a, b clickhouse.Bucket) int { return cmp.Compare(b.Answers, a.Answers) })
	columns := make([]matrixColumn, min(len(rows), maxGroups))
	for i, r := range rows[:len(columns)] {
		columns[i] = matrixColumn{r.Group, namedShare{
			r.Answers, r.MentionAnswers, r.MentionRatePct,
			intervalOver(r.Answers, r.MentionRateLow, r.MentionRateHigh),
		}}
	}
	return columns
}

func newMatrixRow(p clickhouse.PromptCells, columns []matrixColumn) matrixRow {
	row := matrixRow{
		PromptID: p.ID.String(), PromptText: p.Text, TopicID: nullIfNil(p.TopicID), TopicName: p.TopicName,
		Branded:    p.Branded,
		namedShare: namedShare{p.Answers, p.MentionAnswers, p.Rate, newInterval(p.Low, p.High)},
		Cells:      []matrixCell{},
	}
	for i, key := range p.Groups {
		if !slices.ContainsFunc(columns, func(c matrixColumn) bool { return c.Key == key }) {
			continue
		}
		row.Cells = append(row.Cells, matrixCell{key, namedShare{
			p.GroupAnswers[i], p.GroupMentionAnswers[i], p.GroupRates[i], newInterval(p.GroupLows[i], p.GroupHighs[i]),
		}})
	}
	return row
}

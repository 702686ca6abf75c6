package rollup

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/shopspring/decimal"

	"github.com/answerscope/answerscope/sql/clickhouse"
)

// A Checksum is an order-independent checksum of a rollup month, however its rows are split and merged: the sum of each
// summed column, and the sum of that column times a hash of the row's keys, which differs where equal sums are under
// other keys. All is modulo 2^64, so that a row of zeros is nothing.
type Checksum struct {
	Sums     []int64 // as Rollup.Sums names them; decimals in units of their last digit
	weighted []int64
}

// Equal reports whether both are of the same rows, but for one chance in 2^64.
func (t Checksum) Equal(u Checksum) bool {
	return slices.Equal(t.Sums, u.Sums) && slices.Equal(t.weighted, u.weighted)
}

func (t Checksum) add(u Checksum) {
	for i := range t.Sums {
		t.Sums[i] += u.Sums[i]
		t.weighted[i] += u.weighted[i]
	}
}

func (r *Rollup) zero() Checksum {
	n := len(r.Sums())
	return Checksum{make([]int64, n), make([]int64, n)}
}

// An Amount is a sum: Units of a number with so many Digits after the point.
type Amount struct {
	Units  int64
	Digits int32
}

// String writes the number.
func (a Amount) String() string { return decimal.New(a.Units, -a.Digits).StringFixed(a.Digits) }

// MarshalJSON writes the number as one of JSON.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// A Difference is a column in which two checksums differ; Want and Have are equal where only the keys differ.
type Difference struct {
	Column string `json:"column"`
	Want   Amount `json:"want"`
	Have   Amount `json:"have"`
}

// String has both.
func (d Difference) String() string {
	if d.Want == d.Have {
		return fmt.Sprintf("%s %s under other keys", d.Column, d.Have)
	}
	return fmt.Sprintf("%s %s, want %s", d.Column, d.Have, d.Want)
}

// Differences are those between what a rollup should have and what it has.
func (r *Rollup) Differences(want, have Checksum) []Difference {
	var all []Difference
	for i, column := range r.Sums() {
		if want.Sums[i] != have.Sums[i] || want.weighted[i] != have.weighted[i] {
			digits := r.digits(column)
			all = append(all, Difference{column, Amount{want.Sums[i], digits}, Amount{have.Sums[i], digits}})
		}
	}
	return all
}

// scale finds in the type of a decimal how many digits it has after the point.
var scale = regexp.MustCompile(`^Decimal\(\d+, (\d+)\)$`)

func (r *Rollup) digits(column string) int32 {
	for _, c := range r.columns {
		if m := scale.FindStringSubmatch(c.typed); m != nil && c.name == column {
			n, _ := strconv.ParseInt(m[1], 10, 32) // it is digits
			return int32(n)
		}
	}
	return 0
}

// marked is a SELECT of organization, brand, hash and measures v0, v1, … of rows that have the columns of the rollup.
func (r *Rollup) marked(rows string) string {
	var keys, measures []string
	for _, c := range r.columns {
		if c.summed { // of a decimal the unscaled number, and of a wide one its last 64 bits, which add up alike
			measures = append(measures, fmt.Sprintf("reinterpretAsInt64(%s) AS v%d", clickhouse.QuoteName(c.name), len(measures)))
		} else {
			keys = append(keys, clickhouse.QuoteName(c.name))
		}
	}
	if !r.summed {
		measures = []string{"toInt64(1) AS v0"}
	}
	return fmt.Sprintf("SELECT organization_id, brand_id, reinterpretAsInt64(sipHash64(tuple(%s))) AS hash, %s FROM (SELECT %s FROM (%s))",
		strings.Join(keys, ", "), strings.Join(measures, ", "), r.cast(), rows)
}

// expected is the view's own SELECT, and the setting that restricts its landing rows to those of a condition.
func (r *Rollup) expected(condition string) (text string, filters driver.Settings) {
	filter := fmt.Sprintf("{%s:%s}", clickhouse.QuoteText(r.database+"."+r.Source), clickhouse.QuoteText(condition))
	return r.text, driver.Settings{"additional_table_filters": filter}
}

// actual is a SELECT of the rollup's rows of a condition, in its own database or a shadow schema.
func (r *Rollup) actual(database, condition string) string {
	return "SELECT * FROM " + clickhouse.QuoteName(database) + "." + clickhouse.QuoteName(r.Table) + " WHERE " + condition
}

// limited restricts what a checksum or a rebuild takes from questions and inserts: what a view groups beyond 200 MB
// goes to the disk.
func limited(comment string, threads int) driver.Settings {
	return driver.Settings{
		"log_comment":                              comment,
		"max_threads":                              threads,
		"max_bytes_before_external_group_by":       200 << 20,
		"max_bytes_ratio_before_external_group_by": 0,
		"max_query_size":                           16 << 20,
	}
}

// checksum reads rows with the columns of the rollup.
func (r *Rollup) checksum(ctx context.Context, conn *clickhouse.Conn, rows string, filters driver.Settings, threads int) (Checksum, error) {
	var sums, weighted []string
	for i := range r.Sums() {
		sums = append(sums, fmt.Sprintf("sum(v%d)", i))
		weighted = append(weighted, fmt.Sprintf("sum(v%d * hash)", i))
	}
	question := fmt.Sprintf("SELECT [%s] AS sums, [%s] AS weighted FROM (%s)", strings.Join(sums, ", "), strings.Join(weighted, ", "), r.marked(rows))
	settings := limited("checksum "+r.Table, threads)
	maps.Copy(settings, filters)
	ctx = driver.Context(ctx, driver.WithSettings(settings))
	t := r.zero()
	err := clickhouse.Retry(ctx, func() error { return conn.QueryRow(ctx, question).Scan(&t.Sums, &t.weighted) })
	return t, err
}

// A Brand is one of an organization's.
type Brand struct {
	OrganizationID clickhouse.UUID `ch:"organization_id" json:"organization_id"`
	BrandID        clickhouse.UUID `ch:"brand_id" json:"brand_id"`
}

// Brands are those whose rows of a month differ between the two sides, limit of them at most. It reads all rows of the
// month on both sides.
func (r *Rollup) Brands(ctx context.Context, conn *clickhouse.Conn, month clickhouse.Month, owner Owner, limit int) ([]Brand, error) {
	condition := ofMonth(month, owner)
	want, filters := r.expected(condition)
	have := r.actual(r.database, condition)
	var differs []string
	for i := range r.Sums() {
		differs = append(differs, fmt.Sprintf("sum(v%d * side) != 0 OR sum(v%[1]d * side * hash) != 0", i))
	}
	question := fmt.Sprintf("SELECT organization_id, brand_id FROM (SELECT *, 1 AS side FROM (%s) UNION ALL SELECT *, -1 AS side FROM (%s)) "+
		"GROUP BY organization_id, brand_id HAVING %s ORDER BY organization_id, brand_id LIMIT %d",
		r.marked(want), r.marked(have), strings.Join(differs, " OR "), limit)
	settings := limited("checksum brands of "+r.Table, 0)
	maps.Copy(settings, filters)
	var brands []Brand
	if err := conn.Select(driver.Context(ctx, driver.WithSettings(settings)), &brands, question); err != nil {
		return nil, fmt.Errorf("find brands that differ in %s of %s: %w", month, r.Table, err)
	}
	return brands, nil
}

func ofMonth(month clickhouse.Month, owner Owner) string {
	condition := "_partition_id = " + clickhouse.QuoteText(month.Partition())
	if owner.OrganizationID != (clickhouse.UUID{}) {
		condition += " AND organization_id = toUUID('" + owner.OrganizationID.String() + "')"
	}
	if owner.BrandID != (clickhouse.UUID{}) {
		condition += " AND brand_id = toUUID('" + owner.BrandID.String() + "')"
	}
	return condition
}

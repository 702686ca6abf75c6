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

// A Checksum of a rollup month does not depend on the order, splits and merges of its rows: it has the sum of each
// summed column, and the sum of that column times a hash of the row's keys, which differs if equal sums are under other
// keys. Sums are modulo 2^64; a row of zeros changes nothing.
type Checksum struct {
	Sums     []int64 // as Rollup.Sums names them; decimals in units of their last digit
	weighted []int64
}

// Equal reports whether both checksums have the same rows, wrong with a probability of 2^-64.
func (c Checksum) Equal(other Checksum) bool {
	return slices.Equal(c.Sums, other.Sums) && slices.Equal(c.weighted, other.weighted)
}

func (c Checksum) add(other Checksum) {
	for i := range c.Sums {
		c.Sums[i] += other.Sums[i]
		c.weighted[i] += other.weighted[i]
	}
}

func (r *Rollup) zero() Checksum {
	n := len(r.Sums())
	return Checksum{make([]int64, n), make([]int64, n)}
}

// An Amount is a sum in Units of its last decimal, with a number of Digits after the point.
type Amount struct {
	Units  int64
	Digits int32
}

// String writes the number.
func (a Amount) String() string { return decimal.New(a.Units, -a.Digits).StringFixed(a.Digits) }

// MarshalJSON writes the number as one of JSON.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// A Difference is a column in which two checksums differ; Want and Have are equal if only the keys differ.
type Difference struct {
	Column string `json:"column"`
	Want   Amount `json:"want"`
	Have   Amount `json:"have"`
}

// String describes the difference.
func (d Difference) String() string {
	if d.Want == d.Have {
		return fmt.Sprintf("%s %s under other keys", d.Column, d.Have)
	}
	return fmt.Sprintf("%s %s, want %s", d.Column, d.Have, d.Want)
}

// Differences compares the expected and the actual checksum of a rollup.
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

// decimalScale finds the number of digits after the point in the type of a decimal.
var decimalScale = regexp.MustCompile(`^Decimal\(\d+, (\d+)\)$`)

func (r *Rollup) digits(column string) int32 {
	for _, c := range r.columns {
		if m := decimalScale.FindStringSubmatch(c.typ); m != nil && c.name == column {
			n, _ := strconv.ParseInt(m[1], 10, 32) // digits only
			return int32(n)
		}
	}
	return 0
}

// hashed returns a SELECT of organization, brand, hash and measures v0, v1, … over rows with the columns of the rollup.
func (r *Rollup) hashed(rows string) string {
	var keys, measures []string
	for _, c := range r.columns {
		name := clickhouse.QuoteName(c.name)
		if c.summed { // a decimal is its unscaled number, a wide one its last 64 bits, which sum alike
			measures = append(measures, fmt.Sprintf("reinterpretAsInt64(%s) AS v%d", name, len(measures)))
		} else {
			keys = append(keys, name)
		}
	}
	if !r.summed {
		measures = []string{"toInt64(1) AS v0"}
	}
	return fmt.Sprintf("SELECT organization_id, brand_id, reinterpretAsInt64(sipHash64(tuple(%s))) AS hash, %s "+
		"FROM (SELECT %s FROM (%s))", strings.Join(keys, ", "), strings.Join(measures, ", "), r.cast(), rows)
}

// expected returns the view's own SELECT, and the setting that filters its landing rows by a condition.
func (r *Rollup) expected(condition string) (text string, filters driver.Settings) {
	source := clickhouse.QuoteText(r.database + "." + r.Source)
	filter := fmt.Sprintf("{%s:%s}", source, clickhouse.QuoteText(condition))
	return r.text, driver.Settings{"additional_table_filters": filter}
}

// actual returns a SELECT of the rollup's rows by a condition, in its own database or a shadow schema.
func (r *Rollup) actual(database, condition string) string {
	table := clickhouse.QuoteName(database) + "." + clickhouse.QuoteName(r.Table)
	return "SELECT * FROM " + table + " WHERE " + condition
}

// limited returns settings that leave resources to queries and inserts: groups of a view beyond 200 MB go to the disk.
func limited(comment string, threads int) driver.Settings {
	return driver.Settings{
		"log_comment":                              comment,
		"max_threads":                              threads,
		"max_bytes_before_external_group_by":       200 << 20,
		"max_bytes_ratio_before_external_group_by": 0,
		"max_query_size":                           16 << 20,
	}
}

// checksum computes the checksum of rows with the columns of the rollup.
func (r *Rollup) checksum(
	ctx context.Context, conn *clickhouse.Conn, rows string, filters driver.Settings, threads int,
) (Checksum, error) {
	var sums, weighted []string
	for i := range r.Sums() {
		sums = append(sums, fmt.Sprintf("sum(v%d)", i))
		weighted = append(weighted, fmt.Sprintf("sum(v%d * hash)", i))
	}
	query := fmt.Sprintf("SELECT [%s] AS sums, [%s] AS weighted FROM (%s)",
		strings.Join(sums, ", "), strings.Join(weighted, ", "), r.hashed(rows))
	settings := limited("checksum "+r.Table, threads)
	maps.Copy(settings, filters)
	ctx = driver.Context(ctx, driver.WithSettings(settings))
	c := r.zero()
	err := clickhouse.Retry(ctx, func() error { return conn.QueryRow(ctx, query).Scan(&c.Sums, &c.weighted) })
	return c, err
}

// A Brand identifies a brand and its organization.
type Brand struct {
	OrganizationID clickhouse.UUID `ch:"organization_id" json:"organization_id"`
	BrandID        clickhouse.UUID `ch:"brand_id" json:"brand_id"`
}

// Brands returns at most limit brands whose expected and actual rows of a month differ. It reads all rows of the month
// on both sides.
func (r *Rollup) Brands(
	ctx context.Context, conn *clickhouse.Conn, month clickhouse.Month, owner Owner, limit int,
) ([]Brand, error) {
	condition := monthCondition(month, owner)
	want, filters := r.expected(condition)
	have := r.actual(r.database, condition)
	var differs []string
	for i := range r.Sums() {
		differs = append(differs, fmt.Sprintf("sum(v%d * side) != 0 OR sum(v%[1]d * side * hash) != 0", i))
	}
	query := fmt.Sprintf("SELECT organization_id, brand_id "+
		"FROM (SELECT *, 1 AS side FROM (%s) UNION ALL SELECT *, -1 AS side FROM (%s)) "+
		"GROUP BY organization_id, brand_id HAVING %s ORDER BY organization_id, brand_id LIMIT %d",
		r.hashed(want), r.hashed(have), strings.Join(differs, " OR "), limit)
	settings := limited("checksum brands of "+r.Table, 0)
	maps.Copy(settings, filters)
	var brands []Brand
	if err := conn.Select(driver.Context(ctx, driver.WithSettings(settings)), &brands, query); err != nil {
		return nil, fmt.Errorf("find brands that differ in %s of %s: %w", month, r.Table, err)
	}
	return brands, nil
}

func monthCondition(month clickhouse.Month, owner Owner) string {
	condition := "_partition_id = " + clickhouse.QuoteText(month.Partition())
	if owner.OrganizationID != (clickhouse.UUID{}) {
		condition += " AND organization_id = toUUID('" + owner.OrganizationID.String() + "')"
	}
	if owner.BrandID != (clickhouse.UUID{}) {
		condition += " AND brand_id = toUUID('" + owner.BrandID.String() + "')"
	}
	return condition
}

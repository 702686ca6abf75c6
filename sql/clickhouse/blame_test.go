package clickhouse

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit"
)

// The numbers mean what the lists say, on the server that we run.
func TestCodesAreThoseOfTheServer(t *testing.T) {
	c := DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	all := maps.Clone(rowsFault)
	for code, name := range othersFault {
		if rowsFault[code] != "" {
			t.Errorf("code %d is in both lists", code)
		}
		all[code] = name
	}
	for code, name := range all {
		var got string
		if err := conn.QueryRow(t.Context(), "SELECT toString(errorCodeToName({code:Int32}))", clickhouse.Named("code", code)).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != name {
			t.Errorf("code %d is %s to the server, %s to us", code, got, name)
		}
	}
}

func TestBlame(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Blame
	}{
		{errors.New("connection reset"), NotRows},
		{fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 241}), NotRows},
		{fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 395}), Rows},
		{fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 49}), PerhapsRows},
		{fmt.Errorf("encode: %w", errUnencodable), Rows},
	} {
		if got := BlameOf(c.err); got != c.want {
			t.Errorf("BlameOf(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

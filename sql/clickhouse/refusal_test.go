package clickhouse

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/answerscope/answerscope/internal/testkit"
)

// The numbers mean what the list says, on the server that we run.
func TestCodesAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.DSN = testkit.ClickHouse(t)
	conn, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, code := range unavailable {
		var got string
		if err := conn.QueryRow(t.Context(), "SELECT toString(errorCodeToName({code:Int32}))",
			clickhouse.Named("code", int32(code))).Scan(&got); err != nil {
			t.Fatal(err)
		}
		want := code.String()
		if code == proto.ErrQuotaExceeded { // the driver prints its former name
			want = "QUOTA_EXCEEDED"
		}
		if got != want {
			t.Errorf("code %d is %s to the server, %s to the driver", int(code), got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err     error
		refuser string
		refused bool
	}{
		{errors.New("connection reset"), "", false},
		{fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 241}), "", false},
		{fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 395,
			Message: "non-zero: while pushing to view db.theirs (5f2e-11): while pushing to view db.ours (5f2e-12)"}),
			"view db.theirs", true},
		{fmt.Errorf("insert: %w", &clickhouse.Exception{Code: 49, Message: "no view is named"}), "", true},
		{fmt.Errorf("encode: %w", errUnencodable), "", true},
		{&clickhouse.Exception{Code: 1001, Message: "filesystem error: in create_directory: No space left on device"},
			"", false},
	} {
		if refuser, refused := Refused(c.err); refuser != c.refuser || refused != c.refused {
			t.Errorf("Refused(%v) = %q, %v; want %q, %v", c.err, refuser, refused, c.refuser, c.refused)
		}
	}
}

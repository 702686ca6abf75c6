package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestShardsShowTheirServersAndNoPassword(t *testing.T) {
	given := "clickhouse://app:" + hidden + "@a:9000/x, clickhouse://app:" + hidden + "@b:9000/x;clickhouse://app:" +
		hidden + "@c:9000/x"
	s := NewShards(given)
	want := "clickhouse://app:****@a:9000/x,clickhouse://app:****@b:9000/x;clickhouse://app:****@c:9000/x"
	text, err := json.Marshal(map[string]any{"a": s})
	if err != nil {
		t.Fatal(err)
	}
	if shown := s.Masked(); shown != want || s.Reveal() != given {
		t.Errorf("shown as %s", shown)
	}
	for _, shown := range []string{
		fmt.Sprintf("%v %+v %#v %s %q %d", s, s, s, s, s, s), string(text), s.LogValue().String(),
	} {
		if strings.Contains(shown, hidden) {
			t.Errorf("shown: %s", shown)
		}
	}
}

func TestShardsAreAddressesAndNotBesideOne(t *testing.T) {
	const one = "clickhouse://app@a:9000/x"
	for shards, wrong := range map[string]bool{
		one:                             false,
		one + ";clickhouse://app@b:9/x": false,
		one + ";":                       true,
		one + ",,":                      true,
		one + ";b:9000":                 true,
	} {
		if err := checked(FromEnvironment([]string{"ANSWERSCOPE_CLICKHOUSE_SHARDS=" + shards})); (err != nil) != wrong {
			t.Errorf("%s: %v", shards, err)
		}
	}
	both := []string{"ANSWERSCOPE_CLICKHOUSE_SHARDS=" + one, "ANSWERSCOPE_CLICKHOUSE_DSN=" + one}
	if err := checked(FromEnvironment(both)); err == nil {
		t.Error("both are taken")
	}
}

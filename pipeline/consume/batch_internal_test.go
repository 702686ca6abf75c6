package consume

import "testing"

// A batch's token is topic/partition@first-last/crc, of the first record's value: in a log that was replaced the same
// offsets have other tokens, so that the target does not take a batch for one that it has.
func TestTokenNamesTheBatchAndItsFirstRecord(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"123456789": "visits/3@120-121/e3069283", // the check value of CRC-32C
		"":          "visits/3@120-121/00000000",
	} {
		b := builder[int]{batch: Batch[int]{Topic: "visits", Partition: 3}}
		b.add(&Record{Offset: 120, Key: []byte("key"), Value: []byte(value)}, 0, 0)
		b.add(&Record{Offset: 121, Value: []byte("another")}, 0, 0)
		if got := b.batch.Token(); got != want {
			t.Errorf("the token of a batch that begins with %q is %s, want %s", value, got, want)
		}
	}
}

package consume

import (
	"encoding/json"
	"fmt"
	"time"
)

// Plan is what the batch that begins at a committed offset is. It is the metadata of that commit until the batch has landed.
type Plan struct {
	Last           int64 `json:"last"`
	Shard          int   `json:"shard"`
	ExtractVersion int   `json:"extract_version"`
	Since          int64 `json:"since,omitempty"`   // when it was first planned, in Unix milliseconds; 0: not yet
	Expired        bool  `json:"expired,omitempty"` // the target may have forgotten the token
}

// ShardOf is the shard that new plans of a partition name, of so many.
func ShardOf(partition int32, shards int) int { return int(partition) % shards }

// expiresAfter is how long after its first planning a batch's token may be forgotten. Tables remember 50,000 parts, which
// the other partitions of a busy log make in half an hour; the rest is for clocks of machines that differ.
const expiresAfter = 10 * time.Minute

// age notes when the batch is first planned, and whether its plan has expired, and reports whether the plan must be
// committed again. Expired it stays, since it may have been inserted under another token by then. It goes by the wall
// clock, which other machines share and which does not stand still while a machine sleeps.
func (p *Plan) age(now time.Time) (changed bool) {
	ms := now.UnixMilli()
	if p.Since == 0 {
		p.Since = ms
		return true
	}
	if age := ms - p.Since; !p.Expired && max(age, -age) > expiresAfter.Milliseconds() {
		p.Expired = true
		return true
	}
	return false
}

// metadata is the plan as Kafka keeps it, far below its limit of 4 KB.
func (p Plan) metadata() string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers always marshal
	}
	return string(text)
}

// readPlan reads the metadata of the commit at first; nil when there is no open plan.
func readPlan(first int64, metadata string) (*Plan, error) {
	if metadata == "" {
		return nil, nil
	}
	var p Plan
	if err := json.Unmarshal([]byte(metadata), &p); err != nil {
		return nil, fmt.Errorf("read plan %.80q: %w", metadata, err)
	}
	if p.Last < first {
		return nil, fmt.Errorf("read plan %.80q: it ends before offset %d, where it begins", metadata, first)
	}
	return &p, nil
}

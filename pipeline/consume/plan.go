package consume

import (
	"encoding/json"
	"fmt"
)

// Plan is what the batch that begins at a committed offset is. It is the metadata of that commit until the batch has
// landed.
type Plan struct {
	Last           int64 `json:"last"`
	Shard          int   `json:"shard"`
	ExtractVersion int   `json:"extract_version"`
}

// ShardOf is the shard that new plans of a partition name, of so many.
func ShardOf(partition int32, shards int) int { return int(partition) % shards }

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

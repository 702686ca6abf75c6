package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Models lists the requested slugs that the simulator answers to; "" is the first.
var Models = []string{"sim-atlas", "sim-borealis", "sim-cirrus"}

// Config is what answers depend on, besides the questions.
type Config struct {
	Seed     uint64
	Shopping bool // answers as simulator-shopping does: short, with products
	Cast     Cast
}

// Cast are the brand and the competitors that answers name.
type Cast struct {
	Brand       event.Entity
	Competitors []event.Entity
}

// DefaultConfig has a seed and no brand.
func DefaultConfig() Config { return Config{Seed: 1} }

// Validate returns an error for a brand without a name.
func (c Config) Validate() error {
	if strings.TrimSpace(c.Cast.Brand.Name) == "" {
		return errors.New("simulator: the brand has no name: want the brand that answers name")
	}
	return nil
}

// Simulator is a platform.Platform.
type Simulator struct {
	config   Config
	slug     string
	entities []event.Entity // the brand first
	phrases  map[string]phrases
}

// New returns a simulator; the error is that of Validate.
func New(config Config) (*Simulator, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	s := &Simulator{config: config, slug: platform.Simulator, phrases: languages()}
	if config.Shopping {
		s.slug = platform.SimulatorShopping
	}
	s.entities = append([]event.Entity{config.Cast.Brand}, config.Cast.Competitors...)
	return s, nil
}

// Ask answers, or fails with a *platform.Error: some days have outages.
func (s *Simulator) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	if err := ctx.Err(); err != nil {
		return platform.Reply{}, err
	}
	if q.Model == "" {
		q.Model = Models[0]
	}
	if err := check(q); err != nil {
		return platform.Reply{}, &platform.Error{Class: platform.Invalid, Cause: err}
	}
	if err := s.failure(q); err != nil {
		return platform.Reply{}, err
	}
	return s.reply(q), nil
}

func check(q platform.Question) error {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return errors.New("the question has no text")
	case !slices.Contains(Models, q.Model):
		return fmt.Errorf("model %q is unknown: want one of %s", q.Model, strings.Join(Models, ", "))
	case q.Sample < 1:
		return fmt.Errorf("sample %d: want 1 or more", q.Sample)
	}
	return nil
}

func (s *Simulator) reply(q platform.Question) platform.Reply {
	d := &draft{
		chance:  chance(s.config.Seed, "answer", s.slug, q.Text, q.Model, q.Region, q.Language, strconv.FormatInt(q.Sample, 10), q.Due.UTC().String()),
		phrases: s.language(q.Language),
		prompt:  q.Text,
	}
	named := s.named(d.chance, q)
	if s.config.Shopping {
		s.shop(d, q, named)
	} else {
		s.advise(d, named)
	}
	reply := platform.Reply{
		ServedModel:   served(s.config.Seed, q.Model, q.Due),
		Surface:       event.SurfaceAPI,
		Text:          d.text.String(),
		Citations:     d.citations,
		SearchQueries: d.queries(),
		Products:      d.products,
		Finish:        event.FinishComplete,
	}
	reply.Usage = usage(q, reply)
	reply.Raw = raw(reply)
	return reply
}

// usage counts four bytes a token and a made-up price, in millionths of a dollar.
func usage(q platform.Question, r platform.Reply) *event.Usage {
	u := &event.Usage{InputTokens: int64(40 + len(q.Text)/4), OutputTokens: int64(len(r.Text) / 4), Searches: int64(len(r.SearchQueries))}
	millionths := 2*u.InputTokens + 8*u.OutputTokens + 5000*u.Searches
	u.CostUSD = fmt.Sprintf("%d.%06d", millionths/1_000_000, millionths%1_000_000)
	return u
}

func raw(r platform.Reply) []byte {
	payload, err := json.Marshal(map[string]any{"simulated": true, "model": r.ServedModel, "text": r.Text})
	if err != nil {
		panic(err) // strings and a bool
	}
	return payload
}

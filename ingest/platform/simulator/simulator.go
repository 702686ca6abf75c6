// Package simulator is a platform that answers without asking an AI. An answer depends on the seed and the question
// alone, never on a clock or a shared source of randomness: the same question gets the same answer on every machine,
// and the demo and the benches can be repeated.
//
// It names one brand and its competitors (the Cast), with a rate that differs by model and prompt, and cites their
// pages and others'. A Change moves a rate, renews a model or is an outage. Every answer begins with a sentence, in its
// own language, that it is simulated.
package simulator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Models lists the requested slugs that the simulator answers to; "" is the first.
var Models = []string{"sim-atlas", "sim-borealis", "sim-cirrus", "sim-dorado"}

// The simulator has three platforms, which cost nothing and use up no budget.
var (
	Description         = describe(platform.Simulator, "Simulator")
	ShoppingDescription = describe(platform.SimulatorShopping, "Simulator, shopping")
	OverviewDescription = describe(platform.SimulatorOverview, "Simulator, overview")
)

func describe(slug, name string) platform.Description {
	d := platform.Description{Slug: slug, Name: name, TakesRegion: true}
	price := platform.Price{Currency: "USD", Date: "2026-11-01", PerThousandRequests: "0"}
	for _, model := range Models {
		d.Models = append(d.Models, platform.Model{
			Slug: model, Typical: event.Usage{InputTokens: 50, OutputTokens: 250, Searches: 2}, Price: &price,
		})
	}
	return d
}

// Config is what answers depend on, besides the questions.
type Config struct {
	Seed    uint64
	Slug    string // "" is simulator; simulator-shopping answers with products, simulator-overview not always
	Cast    Cast
	Changes []Change // none: every rate stays as it is
}

// Cast are the brand and the competitors that answers name.
type Cast struct {
	Brand       event.Entity
	Competitors []event.Entity
}

// DefaultConfig has a seed and no brand.
func DefaultConfig() Config { return Config{Seed: 1} }

// Simulator is a platform.Platform.
type Simulator struct {
	config   Config
	entities []event.Entity // the brand first
	phrases  map[string]phrases
}

// New returns a simulator.
func New(config Config) (*Simulator, error) {
	if strings.TrimSpace(config.Cast.Brand.Name) == "" {
		return nil, errors.New("simulator: the brand has no name: want the brand that answers name")
	}
	config.Slug = cmp.Or(config.Slug, platform.Simulator)
	s := &Simulator{config: config, phrases: languages()}
	s.entities = append([]event.Entity{config.Cast.Brand}, config.Cast.Competitors...)
	return s, nil
}

// Slug returns the platform of the answers.
func (s *Simulator) Slug() string { return s.config.Slug }

// Ask answers, or fails with a *platform.Error. A second attempt finds every failure over.
func (s *Simulator) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		return platform.Reply{}, &platform.Error{Class: platform.Timeout, Cause: err}
	case err != nil:
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
	reply := platform.Reply{ServedModel: s.served(q), Surface: event.SurfaceAPI, Finish: event.FinishNotShown}
	if s.isShown(q) {
		s.write(q, &reply)
	}
	if s.Slug() == platform.SimulatorOverview {
		reply.Surface = event.SurfaceConsumer
	}
	reply.Usage = usage(q, reply)
	reply.Raw = raw(reply)
	return reply
}

// isShown reports whether the platform has an answer: an overview is shown to a prompt on two of three days.
func (s *Simulator) isShown(q platform.Question) bool {
	return s.Slug() != platform.SimulatorOverview ||
		s.Chance("shown", q.Text, q.Due.UTC().Format(time.DateOnly)).IntN(3) > 0
}

func (s *Simulator) write(q platform.Question, reply *platform.Reply) {
	sample, due := strconv.FormatInt(q.Sample, 10), q.Due.UTC().String()
	d := &draft{
		chance:  s.Chance("answer", s.Slug(), q.Text, q.Model, q.Region, q.Language, sample, due),
		phrases: s.language(q.Language),
		prompt:  q.Text,
	}
	named := s.named(d.chance, q)
	if s.Slug() == platform.SimulatorShopping {
		s.shop(d, q, named)
	} else {
		s.advise(d, named)
	}
	reply.Finish, reply.Text = event.FinishComplete, d.text.String()
	reply.Citations, reply.SearchQueries, reply.Products = d.citations, d.queries(), d.products
}

// usage counts four bytes a token.
func usage(q platform.Question, r platform.Reply) *event.Usage {
	return &event.Usage{
		InputTokens: int64(40 + len(q.Text)/4), OutputTokens: int64(len(r.Text) / 4),
		Searches: int64(len(r.SearchQueries)), CostUSD: "0",
	}
}

func raw(r platform.Reply) []byte {
	payload, err := json.Marshal(map[string]any{"simulated": true, "model": r.ServedModel, "text": r.Text})
	if err != nil {
		panic(err) // strings and a bool
	}
	return payload
}

// Chance returns a random source that is seeded by the simulator's seed and parts alone.
func (s *Simulator) Chance(parts ...string) *rand.Rand {
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], s.config.Seed)
	h.Write(n[:])
	for _, part := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

// pick returns one of items.
func pick[T any](c *rand.Rand, items []T) T { return items[c.IntN(len(items))] }

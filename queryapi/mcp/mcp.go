// Package mcp serves the figures of /api/v1 to AI clients by the Model Context Protocol, at POST /mcp and over stdio.
//
// A tool is questions to endpoints of /api/v1 and a projection of their bodies, both in tools.json: a column is the
// literal at a JSON pointer, so that a figure here is a figure there. No figure is computed here. call.go takes a call
// through its steps: arguments.go reads it, names become ids, ask.go asks, project.go makes the result; track.go starts
// tracking jobs.
package mcp

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

const (
	listBrands = "list_brands"
	version    = "1.0.0" // of tools and prompts
	ttl        = 300_000 // milliseconds for which clients may keep lists
)

// A tool is an entry of tools.json.
type tool struct {
	Name        string
	Title       string
	Description string
	Writes      bool     // it costs money
	Screen      *string  // of the dashboard, which shows the same; nil: none
	Common      []string // arguments that several tools have
	Required    []string
	Properties  map[string]property
	Unbranded   string // condition under which no brand is needed
	OfAnswers   bool   `json:"of_answers"` // without rows it is explained by the answers that there are
	Asks        []ask

	schema schema
}

// A schema describes a tool's arguments.
type schema struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required,omitempty"`
	Additional bool                `json:"additionalProperties"`
}

var (
	//go:embed tools.json
	toolsFile []byte
	//go:embed instructions.txt
	instructions string
	// A prompt is "# name: title", a line of its arguments ("brand, days=7, topic?"), and a text with them in braces.
	//
	//go:embed prompts.md
	prompts string
	// The section of docs/api.md; a test compares them.
	//
	//go:embed figures.md
	figures string

	tools = readTools()
)

// readTools completes the tools of tools.json.
func readTools() []tool {
	var file struct {
		Common map[string]property
		Tools  []tool
	}
	if err := json.Unmarshal(toolsFile, &file); err != nil {
		panic(err) // it is part of the source
	}
	for i := range file.Tools {
		t := &file.Tools[i]
		t.schema = schema{Type: "object", Properties: map[string]property{}, Required: t.Required}
		for _, argument := range t.Common {
			t.schema.Properties[argument] = file.Common[argument]
		}
		maps.Copy(t.schema.Properties, t.Properties)
	}
	return file.Tools
}

// A server runs calls.
type server struct {
	ask     Asker
	base    string // address of the dashboard
	now     func() time.Time
	log     *slog.Logger
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// newServer registers its metrics, if they are read.
func newServer(
	ask Asker, base string, now func() time.Time, log *slog.Logger, metrics prometheus.Registerer,
) *server {
	s := &server{
		ask: ask, base: base, now: now, log: log,
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "answerscope_mcp_calls_total",
			Help: "Calls of tools by outcome (done, refused, failed).",
		}, []string{"tool", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "answerscope_mcp_call_seconds",
			Help:    "How long calls of tools took.",
			Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"tool"}),
	}
	if metrics != nil {
		metrics.MustRegister(s.calls, s.seconds)
	}
	return s
}

// protocol returns what speaks the protocol with a client.
func (s *server) protocol(tracks bool) *sdk.Server {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "answerscope", Title: "answerscope", Version: version},
		&sdk.ServerOptions{
			Instructions: instructions,
			// The default announces changes of lists and log messages, for which a client holds a connection.
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{},
				Resources: &sdk.ResourceCapabilities{}},
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) {
				c.TTLMs, c.CacheScope = ttl, "private"
			},
		})
	for _, t := range tools {
		if t.Writes && !tracks {
			continue
		}
		asksOthers := t.Writes
		server.AddTool(&sdk.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.schema,
			Annotations: &sdk.ToolAnnotations{Title: t.Title, ReadOnlyHint: !t.Writes, IdempotentHint: !t.Writes,
				DestructiveHint: new(false), OpenWorldHint: &asksOthers},
		}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, t, r.Params.Arguments), nil
		})
	}
	addPrompts(server)
	resource := &sdk.Resource{URI: "answerscope://figures", Name: "figures", Title: "What the figures mean",
		MIMEType: "text/markdown"}
	server.AddResource(resource, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		contents := &sdk.ResourceContents{URI: resource.URI, MIMEType: resource.MIMEType, Text: figures}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
	})
	return server
}

// call runs a tool. An error is its result, for the model to read.
func (s *server) call(ctx context.Context, t tool, arguments json.RawMessage) *sdk.CallToolResult {
	started := s.now()
	ctx, cancel := within(ctx, timeout)
	defer cancel()
	c := call{tool: t, ask: s.ask, base: s.base, now: started}
	text, err := c.run(ctx, arguments)
	outcome, result := "done", &sdk.CallToolResult{StructuredContent: text}
	if err != nil {
		outcome, text = "refused", json.RawMessage(message(err))
		if kind, _ := problem.Of(err); (kind == problem.Internal || kind == problem.Unavailable) && ctx.Err() == nil {
			outcome = "failed"
			s.log.ErrorContext(ctx, "tool failed", "tool", t.Name, "error", err,
				"next", "if it goes on, report it with this line")
		}
		result = &sdk.CallToolResult{IsError: true}
	}
	result.Content = []sdk.Content{&sdk.TextContent{Text: string(text)}}
	took := s.now().Sub(started)
	s.calls.WithLabelValues(t.Name, outcome).Inc()
	s.seconds.WithLabelValues(t.Name).Observe(took.Seconds())
	caller := identity.FromContext(ctx)
	s.log.InfoContext(ctx, "tool called", "organization", caller.OrganizationID, "user", caller.UserID,
		"key", caller.KeyID, "tool", t.Name, "outcome", outcome, "took", took, "bytes", len(text))
	return result
}

// addPrompts adds the prompts of prompts.md.
func addPrompts(server *sdk.Server) {
	for section := range strings.SplitSeq(strings.TrimPrefix(prompts, "# "), "\n# ") {
		heading, rest, _ := strings.Cut(section, "\n")
		signature, text, _ := strings.Cut(rest, "\n")
		prompt := &sdk.Prompt{}
		prompt.Name, prompt.Description, _ = strings.Cut(heading, ": ")
		prompt.Title = prompt.Description
		defaults := map[string]string{}
		for argument := range strings.SplitSeq(signature, ", ") {
			argument, value, hasDefault := strings.Cut(argument, "=")
			argument, isOptional := strings.CutSuffix(argument, "?")
			defaults[argument] = value
			prompt.Arguments = append(prompt.Arguments,
				&sdk.PromptArgument{Name: argument, Required: !hasDefault && !isOptional})
		}
		server.AddPrompt(prompt, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			filled, err := fillPrompt(prompt, strings.TrimSpace(text), defaults, r.Params.Arguments)
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: filled}},
			}}, err
		})
	}
}

// fillPrompt puts values in place of arguments in braces. A line with an argument that has none is left out.
func fillPrompt(p *sdk.Prompt, text string, defaults, sent map[string]string) (string, error) {
	lines, pairs := strings.Split(text, "\n"), []string{}
	for _, argument := range p.Arguments {
		value, placeholder := cmp.Or(sent[argument.Name], defaults[argument.Name]), "{"+argument.Name+"}"
		if value == "" && argument.Required {
			return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
				Message: fmt.Sprintf("%s: want the argument %s", p.Name, argument.Name)}
		}
		lines = slices.DeleteFunc(lines, func(line string) bool {
			return value == "" && strings.Contains(line, placeholder)
		})
		pairs = append(pairs, placeholder, value)
	}
	return strings.NewReplacer(pairs...).Replace(strings.Join(lines, "\n")), nil
}

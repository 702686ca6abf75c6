package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
)

var update = flag.Bool("update", false, "rewrite testdata/tools.json, figures.md and docs/mcp.md")

// A description is openapi.json as far as tests read it.
type description struct {
	Paths map[string]struct {
		Get struct {
			Parameters []struct {
				Name string
				Ref  string `json:"$ref"`
			}
			Responses map[string]struct {
				Content map[string]struct {
					Schema  json.RawMessage
					Example json.RawMessage
				}
			}
		}
	}
	Components struct{ Schemas map[string]json.RawMessage }
}

func readDescription(t *testing.T) (d description) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, "../metrics/openapi.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// examples answers with the examples of openapi.json.
func examples(t *testing.T) Asker {
	t.Helper()
	d := readDescription(t)
	return func(_ context.Context, r Request) (json.RawMessage, error) {
		if strings.HasPrefix(r.Path, "/answers/") {
			r.Path = "/answers/{id}"
		}
		example := d.Paths[apiPrefix+r.Path].Get.Responses["200"].Content["application/json"].Example
		if example == nil {
			return nil, problem.New(problem.Missing, "no such path")
		}
		return example, nil
	}
}

// today is when servers that connect returns believe to be.
var today = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// connect returns a client of a server in this process.
func connect(t *testing.T, ask Asker, tracks bool) *sdk.ClientSession {
	t.Helper()
	server := newServer(ask, "https://answers.example", func() time.Time { return today },
		slog.New(slog.DiscardHandler), nil)
	ours, theirs := sdk.NewInMemoryTransports()
	ctx := identity.NewContext(withCredential(t.Context(), writerKey), identity.Identity{})
	if _, err := server.protocol(tracks).Connect(ctx, ours, nil); err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// What a client loads before its first question costs its user tokens: 4.16 bytes each.
func TestListsAreWithinTheirBudget(t *testing.T) {
	t.Parallel()
	writer := connect(t, examples(t), true)
	listed, err := writer.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(listed.Tools)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 14_000 || len(listed.Tools) > 12 || len(instructions) > 1000 {
		t.Errorf("tools/list has %d tools and %d bytes, instructions have %d", len(listed.Tools), len(text),
			len(instructions))
	}
	var lines bytes.Buffer
	for _, tool := range listed.Tools {
		line, err := json.MarshalIndent(tool, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		a := tool.Annotations
		if a == nil || a.Title == "" || a.DestructiveHint == nil || a.OpenWorldHint == nil ||
			tool.OutputSchema != nil || a.ReadOnlyHint == (tool.Name == "track") {
			t.Errorf("%s has annotations %+v and output schema %v", tool.Name, a, tool.OutputSchema)
		}
	}
	const golden = "testdata/tools.json"
	if *update {
		if err := os.WriteFile(golden, lines.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if lines.String() != read(t, golden) {
		t.Errorf("tools/list differs from %s: run go test ./queryapi/mcp -update and review the difference", golden)
	}
	listed, err = connect(t, examples(t), false).ListTools(t.Context(), nil)
	if err != nil || slices.ContainsFunc(listed.Tools, func(t *sdk.Tool) bool { return t.Name == "track" }) {
		t.Errorf("a reader has track, or no tools: %v", err)
	}
	prompts, err := writer.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 5 {
		t.Fatalf("%d prompts, %v", len(prompts.Prompts), err)
	}
	for _, prompt := range prompts.Prompts {
		got, err := writer.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: prompt.Name,
			Arguments: map[string]string{"brand": "Lumen"}})
		if err != nil {
			t.Fatal(err)
		}
		text := got.Messages[0].Content.(*sdk.TextContent).Text
		words := len(strings.Fields(text))
		if words > 150 || strings.Contains(text, "{") || !strings.Contains(text, "Lumen") {
			t.Errorf("%s has %d words: %s", prompt.Name, words, text)
		}
		if _, err := writer.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: prompt.Name}); err == nil {
			t.Errorf("%s without a brand is filled", prompt.Name)
		}
	}
}

// The resource is the section of docs/api.md.
func TestFiguresAreExplainedAsOnThePage(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(read(t, "../../docs/api.md"), "\n## What the figures mean\n")
	section, _, _ = strings.Cut("## What the figures mean\n"+section, "\n### A mention")
	if *update {
		if err := os.WriteFile("figures.md", []byte(section), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if figures != section {
		t.Error("figures.md differs from docs/api.md: run go test ./queryapi/mcp -update")
	}
	got, err := connect(t, examples(t), false).ReadResource(t.Context(),
		&sdk.ReadResourceParams{URI: "answerscope://figures"})
	if err != nil || got.Contents[0].Text != section {
		t.Errorf("the resource has %v, %v", got, err)
	}
}

// property returns the schemas of a member: several where the schema has alternatives.
func (d description) property(schemas []json.RawMessage, name string) (members []json.RawMessage) {
	for _, schema := range schemas {
		var s struct {
			Ref        string `json:"$ref"`
			Properties map[string]json.RawMessage
			Items      json.RawMessage
			OneOf      []json.RawMessage `json:"oneOf"`
			AnyOf      []json.RawMessage `json:"anyOf"`
			AllOf      []json.RawMessage `json:"allOf"`
		}
		if json.Unmarshal(schema, &s) != nil {
			continue
		}
		others := slices.Concat(s.OneOf, s.AnyOf, s.AllOf)
		if s.Ref != "" {
			others = append(others, d.Components.Schemas[path.Base(s.Ref)])
		}
		if s.Items != nil { // a list stands for its items
			others = append(others, s.Items)
		}
		members = append(members, d.property(others, name)...)
		if member, ok := s.Properties[name]; ok {
			members = append(members, member)
		}
	}
	return members
}

// Each pointer of tools.json names a member of the endpoint's body, and each argument a parameter of it.
func TestEveryPointerIsOfTheBody(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	compared := 0
	for _, tool := range tools {
		for _, a := range tool.Asks {
			if (Request{Path: a.Path}).isTracking() {
				continue
			}
			get := d.Paths[apiPrefix+a.Path].Get
			body := []json.RawMessage{get.Responses["200"].Content["application/json"].Schema}
			check := func(from []json.RawMessage, pointer string) []json.RawMessage {
				t.Helper()
				for name := range strings.SplitSeq(strings.Trim(pointer, "/"), "/") {
					next := from
					for each := range strings.SplitSeq(name, ",") {
						if each == "*" || each == "" {
							continue
						}
						compared++
						if next = d.property(from, each); len(next) == 0 {
							t.Errorf("%s: %s has no %s of %s", tool.Name, a.Path, each, pointer)
						}
					}
					from = next
				}
				return from
			}
			_, pointers := pairs(a.Figures)
			for _, pointer := range pointers {
				check(body, pointer)
			}
			for _, table := range a.Tables {
				holder, children := body, table.Rows
				if list, below, ok := strings.Cut(table.Rows, "/*"); ok {
					holder, children = check(body, list), below
				}
				if table.Grouped {
					holder = check(body, "/groups")
				}
				var rows []json.RawMessage
				for child := range strings.SplitSeq(children, ",") {
					rows = append(rows, check(holder, child)...)
				}
				_, pointers := pairs(table.Columns)
				for _, pointer := range pointers {
					if above, ok := strings.CutPrefix(pointer, "^"); ok {
						check(holder, above)
					} else {
						check(rows, pointer)
					}
				}
			}
			for condition := range strings.FieldsSeq(a.Takes) {
				name, _, _ := strings.Cut(condition, "=")
				if renamed, ok := parameters[name]; ok {
					name = renamed
				}
				if !slices.ContainsFunc(get.Parameters, func(p struct {
					Name string
					Ref  string `json:"$ref"`
				}) bool {
					return p.Name == name || path.Base(p.Ref) == name
				}) {
					t.Errorf("%s: %s has no parameter %s", tool.Name, a.Path, name)
				}
			}
		}
	}
	t.Logf("%d names of pointers", compared)
}

// What is too long for a client is cut from the end, and says so.
func TestLongResultsAreCut(t *testing.T) {
	t.Parallel()
	figures := examples(t)
	body := ""
	session := connect(t, func(ctx context.Context, r Request) (json.RawMessage, error) {
		if r.Path == "/visibility-trend" || strings.HasPrefix(r.Path, "/answers/") {
			return json.RawMessage(body), nil
		}
		return figures(ctx, r)
	}, false)
	bucket := `{"date":"2026-03-01","result_count":12,"degraded_platforms":["openai","gemini","perplexity"]}`
	body = `{"buckets":[` + strings.Repeat(bucket+",", 730) + bucket + `]}`
	text, _ := use(t, session, "visibility_trend", map[string]any{"brand": "lumen"})
	if len(text) > 40_000 || len(text) < 30_000 || !strings.Contains(text, " of 731 rows fit: ask with filters") {
		t.Errorf("731 days have %d bytes: …%s", len(text), text[len(text)-200:])
	}
	body = `{"id":"x","text":"` + strings.Repeat("東", 30_000) + `","search_queries":["` + "q" + `"]}`
	text, _ = use(t, session, "answers", map[string]any{"id": "0198c1f2-9d21-7a03-8b4c-5d6e7f809112"})
	if len(text) > 40_000 || len(text) < 30_000 ||
		!strings.Contains(text, `東","text_truncated":true,"search_queries":["q"]`) {
		t.Errorf("a long answer has %d bytes: …%s", len(text), text[len(text)-200:])
	}
	body = `{"id":"x","text":"","search_queries":["` + strings.Repeat("q", 50_000) + `"]}`
	text, isError := use(t, session, "answers", map[string]any{"id": "0198c1f2-9d21-7a03-8b4c-5d6e7f809112"})
	if want := "the result is too long: ask with filters, or for a shorter window"; text != want || !isError {
		t.Errorf("what cannot be cut: %.100s", text)
	}
}

// The page has every tool with its table, and the texts of prompts, for clients that have none.
func TestThePageHasToolsAndPrompts(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	list.WriteString("## Tools\n\nGenerated from `queryapi/mcp/tools.json` by `go test ./queryapi/mcp -update`: each " +
		"figure, and where its literal\nstands in the body of the endpoint.\n")
	for _, tool := range tools {
		fmt.Fprintf(&list, "\n### %s\n\n%s\n\n| in the result | of | |\n|---|---|---|\n", tool.Name,
			wrapped(tool.Description))
		for _, a := range tool.Asks {
			at := a.Path
			if !(Request{Path: at}).isTracking() {
				at = apiPrefix + at
			}
			line := func(name, rows, columns string) {
				cells := strings.ReplaceAll(strings.Join(strings.Fields(columns), "`, `"), "=", "` `")
				if cells != "" {
					fmt.Fprintf(&list, "| %s | `%s`%s | `%s` |\n", name, at, rows, cells)
				}
			}
			line("figures", "", a.Figures)
			for _, table := range a.Tables {
				line("`"+cmp.Or(table.Name, "rows")+"`", " `"+cmp.Or(table.Rows, "/groups")+"`", table.Columns)
			}
		}
	}
	list.WriteString("\n## Prompts\n\nClients show them as commands. In clients without prompts, such as ChatGPT, " +
		"paste the text.\n\n```text\n" + prompts + "```\n")
	const file = "../../docs/mcp.md"
	page := read(t, file)
	before, _, _ := strings.Cut(page, "## Tools\n")
	if *update {
		if err := os.WriteFile(file, []byte(before+list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page != before+list.String() && !*update {
		t.Error("docs/mcp.md differs from the tools: run go test ./queryapi/mcp -update and review the difference")
	}
}

// wrapped breaks a text at 120 columns.
func wrapped(text string) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > 120 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// The bundle for Claude Desktop and the entry for registries have the fields that their schemas want.
func TestTheBundleAndTheRegistryEntry(t *testing.T) {
	t.Parallel()
	var manifest struct {
		ManifestVersion string `json:"manifest_version"`
		Name            string
		Version         string
		Description     string
		Author          struct{ Name string }
		Server          struct {
			Type       string
			EntryPoint string `json:"entry_point"`
			MCPConfig  struct {
				Command string
				Args    []string
				Env     map[string]string
			} `json:"mcp_config"`
		}
		UserConfig map[string]struct {
			Type, Title, Description string
			Required, Sensitive      bool
		} `json:"user_config"`
	}
	if err := json.Unmarshal([]byte(read(t, "../../deploy/mcp/manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	m := manifest
	if m.ManifestVersion != "0.3" || m.Name == "" || m.Version != version || m.Description == "" ||
		m.Author.Name == "" || m.Server.Type != "binary" ||
		m.Server.MCPConfig.Command != "${__dirname}/"+m.Server.EntryPoint ||
		!slices.Equal(m.Server.MCPConfig.Args, []string{"mcp", "--url", "${user_config.url}"}) ||
		m.Server.MCPConfig.Env["ANSWERSCOPE_KEY"] != "${user_config.key}" || len(m.UserConfig) != 2 {
		t.Errorf("manifest.json: %+v", m)
	}
	for name, setting := range m.UserConfig {
		if setting.Type != "string" || setting.Title == "" || setting.Description == "" || !setting.Required ||
			setting.Sensitive != (name == "key") {
			t.Errorf("manifest.json: %s is %+v", name, setting)
		}
	}
	type input struct {
		Name, Value          string
		IsRequired, IsSecret bool
		Variables            map[string]input
	}
	var entry struct {
		Schema                            string `json:"$schema"`
		Name, Title, Description, Version string
		Remotes                           []struct {
			Type, URL string
			Variables map[string]input
			Headers   []input
		}
	}
	if err := json.Unmarshal([]byte(read(t, "../../deploy/mcp/server.json")), &entry); err != nil {
		t.Fatal(err)
	}
	if entry.Schema == "" || strings.Count(entry.Name, "/") != 1 || len(entry.Description) > 100 ||
		entry.Version != version || len(entry.Remotes) != 1 || entry.Remotes[0].Type != "streamable-http" ||
		entry.Remotes[0].URL != "https://{host}"+prefix || !entry.Remotes[0].Variables["host"].IsRequired ||
		len(entry.Remotes[0].Headers) != 1 || !entry.Remotes[0].Headers[0].IsSecret {
		t.Errorf("server.json: %+v", entry)
	}
}

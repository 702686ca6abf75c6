// Package anthropic asks Anthropic's Claude models over the Messages API, with a web search.
package anthropic

import (
	"context"
	"net/http"
	"slices"
	"strings"

	api "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// Anthropic is a platform.Platform.
type Anthropic struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is Anthropic's own.
func New(key, baseURL string) (*Anthropic, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.anthropic.com")
	return &Anthropic{account}, err
}

const (
	maxTokens        = 8192
	maxSearches      = 5
	maxContinuations = 5
)

// Ask puts the question to the model, which has to search the web, if it can be made to. An answer that pauses goes on
// with one request more for each pause, at most five.
func (a *Anthropic) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	var r reader
	params := request(q)
	for range 1 + maxContinuations {
		raw, err := a.send(ctx, params)
		if err != nil {
			return platform.Reply{}, err
		}
		content, err := r.read(a.account, raw)
		if err != nil {
			return platform.Reply{}, err
		}
		if !r.paused {
			break
		}
		params.Messages = append(params.Messages, param.Override[api.MessageParam](turn{"assistant", content}))
		params.ToolChoice = api.ToolChoiceUnionParam{} // it has searched
	}
	reply, err := r.reply()
	return Description.Priced(reply, q.Model), err
}

// turn is a message that is sent back as it came.
type turn struct {
	Role    string        `json:"role"`
	Content []wire.Object `json:"content"`
}

func (a *Anthropic) send(ctx context.Context, params api.MessageNewParams) ([]byte, error) {
	return a.account.Send(ctx, func(client *http.Client) error {
		// The service itself, not anthropic.NewClient: that one reads keys and addresses of the environment.
		service := api.NewMessageService(option.WithHTTPClient(client), option.WithMaxRetries(0),
			option.WithAPIKey(a.account.Key), option.WithBaseURL(a.account.BaseURL+"/"))
		_, err := service.New(ctx, params)
		return err
	})
}

func request(q platform.Question) api.MessageNewParams {
	search := &api.WebSearchTool20250305Param{MaxUses: param.NewOpt[int64](maxSearches)}
	if q.Region != "" {
		search.UserLocation = api.UserLocationParam{Country: param.NewOpt(strings.ToUpper(q.Region))}
	}
	params := api.MessageNewParams{
		Model: Description.Requested(q.Model), MaxTokens: maxTokens,
		Messages: []api.MessageParam{api.NewUserMessage(api.NewTextBlock(q.Text))},
		Tools:    []api.ToolUnionParam{{OfWebSearchTool20250305: search}},
	}
	if slices.Contains(forcible, params.Model) {
		params.ToolChoice = api.ToolChoiceParamOfTool("web_search")
	}
	return params
}

// forcible are the models that can be made to search. Later ones, from claude-opus-5-5 and claude-sonnet-5-5 on, answer
// 400 to that, and decide themselves.
var forcible = []api.Model{"claude-haiku-4-5", "claude-opus-4-7"}

// read reads a whole answer that came in one response.
func read(account wire.Account, raw []byte) (platform.Reply, error) {
	var r reader
	if _, err := r.read(account, raw); err != nil {
		return platform.Reply{}, err
	}
	return r.reply()
}

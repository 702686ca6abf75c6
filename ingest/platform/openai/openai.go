// Package openai asks OpenAI's models over its Responses API, with a web search.
package openai

import (
	"context"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	api "github.com/openai/openai-go/v3/responses"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/responses"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// OpenAI is a platform.Platform.
type OpenAI struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is OpenAI's own.
func New(key, baseURL string) (*OpenAI, error) {
	account, err := wire.NewAccount(key, baseURL, "https://api.openai.com")
	return &OpenAI{account}, err
}

// Ask puts the question to the model, which has to search the web.
func (o *OpenAI) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	raw, err := o.account.Send(ctx, func(client *http.Client) error {
		// The service itself, not openai.NewClient: that one reads keys and addresses of the environment.
		service := api.NewResponseService(option.WithHTTPClient(client), option.WithMaxRetries(0),
			option.WithAPIKey(o.account.Key), option.WithBaseURL(o.account.BaseURL+"/v1/"))
		_, err := service.New(ctx, request(q))
		return err
	})
	if err != nil {
		return platform.Reply{}, err
	}
	reply, err := read(o.account, raw)
	return Description.Priced(reply, q.Model), err
}

func request(q platform.Question) api.ResponseNewParams {
	// Without a location the search is that of a user in the United States; one that is empty is of nowhere.
	location := api.WebSearchToolUserLocationParam{Type: "approximate"}
	if q.Region != "" {
		location.Country = param.NewOpt(strings.ToUpper(q.Region))
	}
	return api.ResponseNewParams{
		Model:      Description.Requested(q.Model),
		Input:      api.ResponseNewParamsInputUnion{OfString: param.NewOpt(q.Text)},
		Tools:      []api.ToolUnionParam{{OfWebSearch: &api.WebSearchToolParam{Type: api.WebSearchToolTypeWebSearch, UserLocation: location}}},
		ToolChoice: api.ResponseNewParamsToolChoiceUnion{OfToolChoiceMode: param.NewOpt(api.ToolChoiceOptionsRequired)},
		Include:    []api.ResponseIncludable{api.ResponseIncludableWebSearchCallActionSources},
		Store:      param.NewOpt(false),
	}
}

func read(account wire.Account, raw []byte) (platform.Reply, error) {
	return responses.Reader{Annotations: true, Titles: true}.Read(account, raw)
}

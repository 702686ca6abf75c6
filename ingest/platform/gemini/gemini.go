// Package gemini asks Google's Gemini models over the Gemini API, grounded in Google Search.
package gemini

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/genai"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// Gemini is a platform.Platform.
type Gemini struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is Google's own.
func New(key, baseURL string) (*Gemini, error) {
	account, err := wire.NewAccount(key, baseURL, "https://generativelanguage.googleapis.com")
	return &Gemini{account}, err
}

// Ask puts the question to the model, which may search, and resolves the addresses that Google hides its sources
// behind.
func (g *Gemini) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	raw, err := g.account.Send(ctx, func(client *http.Client) error {
		models, err := genai.NewClient(ctx, &genai.ClientConfig{
			APIKey: g.account.Key, Backend: genai.BackendGeminiAPI, HTTPClient: client,
			HTTPOptions: genai.HTTPOptions{BaseURL: g.account.BaseURL, APIVersion: "v1beta"},
		})
		if err != nil {
			return fmt.Errorf("make client of the Gemini API, which wants a key and a base URL") // its own error shows the key
		}
		config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}}
		_, err = models.Models.GenerateContent(ctx, Description.Requested(q.Model), genai.Text(q.Text), config)
		return err
	})
	if err != nil {
		return platform.Reply{}, err
	}
	r := reader{account: g.account, resolve: func(addresses []string) map[string]string { return g.resolve(ctx, addresses) }}
	reply, err := r.read(raw)
	return Description.Priced(reply, q.Model), err
}

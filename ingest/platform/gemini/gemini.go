// Package gemini asks Google's Gemini models over the Gemini API, grounded in Google Search.
package gemini

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// Gemini is a platform.Platform.
type Gemini struct{ account wire.Account }

// New returns the platform for an account; baseURL "" is Google's own.
func New(key, baseURL string) (platform.Platform, error) {
	header := http.Header{"X-Goog-Api-Key": {key}}
	account, err := wire.NewAccount(key, baseURL, "https://generativelanguage.googleapis.com", header)
	return &Gemini{account}, err
}

type request struct {
	Contents         []content `json:"contents"`
	GenerationConfig struct{}  `json:"generationConfig"`
	Tools            []tool    `json:"tools"`
}

type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text string `json:"text"`
}

type tool struct {
	GoogleSearch struct{} `json:"googleSearch"`
}

// Ask puts the question to the model, which may search, and resolves the addresses that Google hides its sources
// behind.
func (g *Gemini) Ask(ctx context.Context, q platform.Question) (platform.Reply, error) {
	body := request{Contents: []content{{"user", []part{{q.Text}}}}, Tools: []tool{{}}}
	raw, err := g.account.Post(ctx, "/v1beta/"+resource(Description.Requested(q.Model))+":generateContent", body)
	if err != nil {
		return platform.Reply{}, err
	}
	r := reader{account: g.account, resolve: func(addresses []string) map[string]string {
		return resolve(ctx, addresses)
	}}
	reply, err := r.read(raw)
	return Description.Priced(reply, q.Model), err
}

// resource returns the name of a model as part of a path. A tuned model is asked as tunedModels/….
func resource(model string) string {
	collection, name, ok := strings.Cut(model, "/")
	if !ok || collection != "models" && collection != "tunedModels" {
		collection, name = "models", model
	}
	return collection + "/" + url.PathEscape(name)
}

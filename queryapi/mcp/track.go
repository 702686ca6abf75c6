package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/problem"
)

const retryWindow = 10 * time.Minute // in which the same start is the same job

// track asks the tracking server.
func (c *call) track(ctx context.Context, r Request) (json.RawMessage, error) {
	action := c.args["action"]
	if action == "status" || action == "cancel" {
		if _, err := uuid.FromString(c.args["job_id"]); err != nil {
			return nil, problem.New(problem.Invalid, "job_id: want the job_id that start returned")
		}
		r.Method, r.Query = http.MethodGet, url.Values{"wait": {"20"}} // seconds, below the timeout of the call
		if action == "cancel" {
			r.Method, r.Query = http.MethodDelete, nil
		}
		return c.ask(ctx, r)
	}
	body := map[string]any{"brandId": c.brand.ID}
	for argument, field := range map[string]string{
		"platforms": "platforms", "prompt_ids": "promptIds", "regions": "regions", "samples": "samples",
	} {
		if value, ok := c.args[argument]; ok {
			body[field] = json.RawMessage(value)
		}
	}
	r.Method, r.Body = http.MethodPost, encode(body)
	if action == "start" {
		return c.start(ctx, r)
	}
	return c.ask(ctx, r)
}

// start starts a job whose expected cost is within the limit of the call. The same start within ten minutes is the same
// job.
func (c *call) start(ctx context.Context, r Request) (json.RawMessage, error) {
	estimate, err := c.ask(ctx, Request{Method: r.Method, Path: trackingPrefix + "/estimate", Body: r.Body})
	if err != nil {
		return nil, err
	}
	amount, _ := newNode(estimate).at("/cost/amount")
	cost, isKnown := new(big.Rat).SetString(string(amount))
	if !isKnown {
		return nil, problem.New(problem.Unprocessable,
			"the price of a model is not known: want platforms of which estimate shows the cost")
	}
	if limit, ok := new(big.Rat).SetString(c.args["max_cost_usd"]); !ok || limit.Cmp(cost) < 0 {
		return nil, problem.New(problem.Invalid,
			"costs %s USD: show the user, then start with max_cost_usd %[1]s", amount)
	}
	earlier, err := c.ask(ctx, Request{Path: trackingPrefix + "/jobs",
		Query: url.Values{"brand_id": {c.brand.ID}, "limit": {"200"}}})
	if err != nil {
		return nil, err
	}
	r.IdempotencyKey = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %s %s", credentialOf(ctx), r.Body,
		c.now.UTC().Truncate(retryWindow))))
	body, err := c.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	job, _ := newNode(body).at("/jobId")
	return encode(map[string]any{"jobId": job, "already_started": bytes.Contains(earlier, job)}), nil
}

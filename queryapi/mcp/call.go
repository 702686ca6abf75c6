package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/problem"
)

const (
	maxResult = 40_000 // bytes: clients cut what is longer
	maxText   = 20_000 // characters of an answer
	timeout   = 30 * time.Second

	defaultDays = 30  // of /api/v1
	maxDays     = 731 // of a window there
)

// A call is one call of a tool.
type call struct {
	tool tool
	ask  Asker
	base string // address of the dashboard
	now  time.Time
	args arguments

	brand name // zero where the call needs none
}

// run returns the result of the call. A panic is its error: the library does not recover any.
func (c *call) run(ctx context.Context, sent json.RawMessage) (text json.RawMessage, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	if c.args, err = c.tool.readArguments(sent); err != nil {
		return nil, err
	}
	opening := result{maxRows: maxResult, maxText: maxText}
	if err := c.open(ctx, newNode(sent), &opening); err != nil {
		return nil, err
	}
	for shortest := math.MaxInt; ; {
		r := opening
		if err := c.fill(ctx, &r); err != nil {
			return nil, err
		}
		object := r.object()
		switch {
		case len(object) <= maxResult:
			return object, nil
		case len(object) >= shortest: // what is left is no list and no text of an answer
			return nil, problem.New(problem.Unprocessable,
				"the result is too long: ask with filters, or for a shorter window")
		}
		shortest = len(object)
		// The next attempt takes less than the share that fits, since rows differ.
		opening.maxRows = max(1, min(r.longest, r.maxRows)*maxResult*9/10/len(object))
		opening.maxText = r.maxText * maxResult * 9 / 10 / len(object)
		if c.args.number("limit") > opening.maxRows {
			c.args["limit"] = fmt.Sprint(opening.maxRows) // a shorter page has the cursor of the next one
		}
	}
}

// open finds what the arguments name, and begins the result with it.
func (c *call) open(ctx context.Context, sent node, r *result) error {
	if err := c.findBrand(ctx); err != nil || c.brand.ID == "" {
		return err
	}
	r.set("brand", map[string]string{"name": c.brand.Name, "slug": c.brand.Slug})
	if _, hasDays := c.tool.schema.Properties["date_to"]; hasDays && c.args["id"] == "" {
		c.setDays()
		r.set("window", map[string]string{"from": c.args["date_from"], "to": c.args["date_to"]})
	}
	filtered := map[string]json.RawMessage{}
	for _, filter := range filters {
		if _, ok := c.args[filter]; ok {
			filtered[filter] = sent.members[filter]
		}
	}
	if len(filtered) > 0 {
		r.set("filters", filtered)
	}
	return c.findNames(ctx)
}

// setDays sets days that are left out as /api/v1 does, so that all questions of the call have the same.
func (c *call) setDays() {
	if c.args["date_to"] == "" {
		c.args["date_to"] = c.now.UTC().Format(time.DateOnly)
	}
	last, err := time.Parse(time.DateOnly, c.args["date_to"])
	if _, ok := c.args["date_from"]; !ok && err == nil {
		c.args["date_from"] = last.AddDate(0, 0, 1-defaultDays).Format(time.DateOnly)
	}
}

// fill asks the tool's questions and adds their parts to the result.
func (c *call) fill(ctx context.Context, r *result) error {
	for _, a := range c.tool.Asks {
		if !c.args.match(a.When) {
			continue
		}
		body, err := c.body(ctx, a)
		if err != nil {
			return err
		}
		r.project(a, body, c.args)
	}
	if r.isEmpty {
		if err := c.explainEmpty(ctx, r); err != nil {
			return err
		}
	}
	if c.tool.Screen != nil && c.brand.ID != "" {
		link, err := url.Parse(c.base)
		if err != nil {
			return err
		}
		link = link.JoinPath("brands", c.brand.Slug, *c.tool.Screen, c.args["id"])
		link.RawQuery = c.args.query(slices.Concat(days, filters)...).Encode()
		r.set("url", link.String())
	}
	return nil
}

// body asks one question.
func (c *call) body(ctx context.Context, a ask) (json.RawMessage, error) {
	path := a.Path
	for _, id := range []string{"id", "job_id"} {
		path = strings.ReplaceAll(path, "{"+id+"}", url.PathEscape(c.args[id]))
	}
	r := Request{Path: path, Query: c.args.query(slices.Concat([]string{"brand"}, a.taken(c.args))...)}
	switch {
	case r.isTracking():
		return c.track(ctx, Request{Path: path})
	case path == a.Path: // one answer takes no filters
		r.Query = c.args.query(slices.Concat([]string{"brand"}, days, filters, a.taken(c.args))...)
	}
	return c.ask(ctx, r)
}

// explainEmpty adds the reason why there are no figures.
func (c *call) explainEmpty(ctx context.Context, r *result) error {
	reason, last := "no_rows_of_this_kind", ""
	always := c.args.query("brand")
	always.Set("date_to", c.now.UTC().Format(time.DateOnly))
	always.Set("date_from", c.now.UTC().AddDate(0, 0, 1-maxDays).Format(time.DateOnly))
	inWindow := slices.Concat([]string{"brand"}, days)
	for _, step := range []struct {
		query url.Values
		none  string
	}{
		{always, "no_answers_yet"}, {c.args.query(inWindow...), "none_in_window"},
		{c.args.query(slices.Concat(inWindow, filters)...), "filters_match_nothing"},
	} {
		if !c.tool.OfAnswers {
			break
		}
		step.query.Set("limit", "1")
		body, err := c.ask(ctx, Request{Path: "/answers", Query: step.query})
		if err != nil {
			return err
		}
		newest := newNode(body).list("/answers")
		if len(newest) == 0 {
			reason = step.none
			break
		}
		if last == "" {
			at, _ := newNode(newest[0]).at("/answered_at")
			last, _, _ = strings.Cut(strings.Trim(string(at), `"`), "T")
		}
	}
	r.set("empty_because", reason)
	switch reason {
	case "none_in_window":
		r.set("last_answer", last)
	case "filters_match_nothing":
		values, err := c.ask(ctx, Request{Path: "/filters", Query: c.args.query(inWindow...)})
		if err != nil {
			return err
		}
		r.set("values", values)
	}
	return nil
}

// A name is a brand, topic or competitor that arguments name.
type name struct{ ID, Name, Slug string }

// names lists what an argument may name.
func (c *call) names(ctx context.Context, r Request, list, id string) ([]name, error) {
	body, err := c.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	var names []name
	for _, item := range newNode(body).list(list) {
		var n name
		members := newNode(item).members
		for member, field := range map[string]*string{id: &n.ID, "name": &n.Name, "slug": &n.Slug} {
			_ = json.Unmarshal(members[member], field) // null is no name
		}
		names = append(names, n)
	}
	return names, nil
}

// findBrand finds the brand of the argument, or the only one; none where the call needs none.
func (c *call) findBrand(ctx context.Context) error {
	text, isGiven := c.args["brand"]
	needsNone := c.tool.Unbranded != "" && c.args.match(c.tool.Unbranded)
	if !isGiven && needsNone && c.tool.Name != listBrands {
		return nil
	}
	brands, err := c.names(ctx, Request{Path: "/brands"}, "/brands", "id")
	switch {
	case err != nil:
		return err
	case isGiven:
		c.brand, err = find("brand", text, brands, listBrands+" lists all %d.")
	case needsNone:
		c.args["brands"] = "one"
		if len(brands) > 1 {
			c.args["brands"] = "several"
		}
		return nil
	case len(brands) == 1:
		c.brand = brands[0]
	case len(brands) == 0:
		return problem.New(problem.Missing, "there is no brand yet: the user adds one in the dashboard")
	default:
		return problem.New(problem.Invalid, "brand is missing, and the key reads %d: "+listBrands+" lists them",
			len(brands))
	}
	c.args["brand"] = c.brand.ID
	return err
}

// findNames puts the ids of topic and competitor in place of their names.
func (c *call) findNames(ctx context.Context) error {
	for _, lookup := range []struct{ argument, path, list, id, hint string }{
		{"topic", "/filters", "/topics", "id", listBrands + " with the brand lists all %d."},
		{"competitor", "/competitor-comparison", "/competitors", "competitor_id", "compare_competitors lists all %d."},
	} {
		text, isGiven := c.args[lookup.argument]
		if !isGiven {
			continue
		}
		r := Request{Path: lookup.path, Query: c.args.query(slices.Concat([]string{"brand"}, days)...)}
		names, err := c.names(ctx, r, lookup.list, lookup.id)
		if err != nil {
			return err
		}
		match, err := find(lookup.argument, text, names, lookup.hint)
		if err != nil {
			return err
		}
		c.args[lookup.argument] = match.ID
	}
	return nil
}

// find returns the one that a text names, in any case. Its problem has the three that are nearest.
func find(kind, text string, names []name, hint string) (match name, err error) {
	var labels, matches []string
	for _, n := range names {
		label := cmp.Or(n.Slug, n.Name)
		labels = append(labels, label)
		if slices.ContainsFunc([]string{n.ID, n.Slug, n.Name}, func(field string) bool {
			return field != "" && strings.EqualFold(text, field)
		}) {
			match, matches = n, append(matches, label+" ("+n.ID+")")
		}
	}
	switch len(matches) {
	case 1:
		return match, nil
	case 0:
		sentence := fmt.Sprintf("no %s %.60q. ", kind, text)
		if near := nearest(strings.ToLower(text), labels); len(near) > 0 {
			sentence += "Nearest: " + strings.Join(near, ", ") + ". "
		}
		return name{}, problem.New(problem.Missing, "%s"+hint, sentence, len(names))
	}
	return name{}, problem.New(problem.Invalid, "%d are called %.60q: want one of %s", len(matches), text,
		strings.Join(matches, ", "))
}

// nearest returns up to three names, the nearest first, of which half of the text at most is to be edited.
func nearest(text string, names []string) (near []string) {
	for len(near) < 3 {
		next := problem.Nearest(text, slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return slices.Contains(near, name)
		}), (len(text)+1)/2)
		if len(next) == 0 {
			break
		}
		near = append(near, next...)
	}
	return near[:min(len(near), 3)]
}

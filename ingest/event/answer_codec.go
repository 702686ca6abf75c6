package event

import "strconv"

func (r *reader) answer(a *Answer) error {
	return r.object(func(key string) error {
		switch key {
		case "v":
			return r.small(&a.V)
		case "id":
			return r.id(&a.ID)
		case "organization_id":
			return r.id(&a.OrganizationID)
		case "brand":
			return r.brand(&a.Brand)
		case "competitors":
			return list(r, &a.Competitors, r.competitor)
		case "prompt":
			return r.prompt(&a.Prompt)
		case "platform":
			return r.text(&a.Platform)
		case "model":
			return r.text(&a.Model)
		case "served_model":
			return r.text(&a.ServedModel)
		case "region":
			return r.text(&a.Region)
		case "language":
			return r.text(&a.Language)
		case "surface":
			return r.text((*string)(&a.Surface))
		case "sample":
			return r.integer(&a.Sample)
		case "job_id":
			return optional(r, &a.JobID, r.id)
		case "simulated":
			return r.flag(&a.Simulated)
		case "answered_at":
			return r.instant(&a.AnsweredAt)
		case "latency_ms":
			return r.integer(&a.LatencyMS)
		case "attempts":
			return r.small(&a.Attempts)
		case "finish":
			return r.text((*string)(&a.Finish))
		case "text":
			return r.text(&a.Text)
		case "citations":
			return list(r, &a.Citations, r.citation)
		case "search_queries":
			return r.texts(&a.SearchQueries)
		case "products":
			return list(r, &a.Products, r.product)
		case "usage":
			return optional(r, &a.Usage, r.usage)
		case "given_up":
			return optional(r, &a.GivenUp, r.givenUp)
		case "reread":
			return optional(r, &a.Reread, r.reread)
		default:
			return r.skip()
		}
	})
}

func (r *reader) brand(b *Brand) error {
	*b = Brand{}
	return r.object(func(key string) error {
		if key == "revision" {
			return r.integer(&b.Revision)
		}
		return r.entity(&b.Entity, key)
	})
}

func (r *reader) competitor(e *Entity) error {
	return r.object(func(key string) error { return r.entity(e, key) })
}

func (r *reader) entity(e *Entity, key string) error {
	switch key {
	case "id":
		return r.id(&e.ID)
	case "name":
		return r.text(&e.Name)
	case "aliases":
		return r.texts(&e.Aliases)
	case "domains":
		return r.texts(&e.Domains)
	default:
		return r.skip()
	}
}

func (r *reader) prompt(p *Prompt) error {
	*p = Prompt{}
	return r.object(func(key string) error {
		switch key {
		case "id":
			return r.id(&p.ID)
		case "text":
			return r.text(&p.Text)
		case "set_id":
			return r.id(&p.SetID)
		case "topic_id":
			return optional(r, &p.TopicID, r.id)
		case "is_branded":
			return optional(r, &p.IsBranded, r.flag)
		default:
			return r.skip()
		}
	})
}

func (r *reader) citation(c *Citation) error {
	return r.object(func(key string) error {
		switch key {
		case "url":
			return r.text(&c.URL)
		case "title":
			return r.text(&c.Title)
		case "cited":
			return r.flag(&c.Cited)
		default:
			return r.skip()
		}
	})
}

func (r *reader) product(p *Product) error {
	return r.object(func(key string) error {
		switch key {
		case "position":
			return r.small(&p.Position)
		case "title":
			return r.text(&p.Title)
		case "brand":
			return r.text(&p.Brand)
		case "price_amount":
			return r.text(&p.PriceAmount)
		case "price_currency":
			return r.text(&p.PriceCurrency)
		case "url":
			return r.text(&p.URL)
		case "image_url":
			return r.text(&p.ImageURL)
		case "rating":
			return r.real(&p.Rating)
		case "review_count":
			return r.integer(&p.ReviewCount)
		default:
			return r.skip()
		}
	})
}

func (r *reader) usage(u *Usage) error {
	return r.object(func(key string) error {
		switch key {
		case "input_tokens":
			return r.integer(&u.InputTokens)
		case "output_tokens":
			return r.integer(&u.OutputTokens)
		case "searches":
			return r.integer(&u.Searches)
		case "cost_usd":
			return r.text(&u.CostUSD)
		default:
			return r.skip()
		}
	})
}

func (r *reader) givenUp(g *GivenUp) error {
	return r.object(func(key string) error {
		switch key {
		case "class":
			return r.text(&g.Class)
		case "error":
			return r.text(&g.Error)
		default:
			return r.skip()
		}
	})
}

func (r *reader) reread(m *Reread) error {
	return r.object(func(key string) error {
		if key == "min_extract_version" {
			return r.small(&m.MinExtractVersion)
		}
		return r.skip()
	})
}

func (w *writer) answer(a *Answer) {
	w.integer(`{"v":`, Version)
	w.id(`,"id":`, a.ID)
	w.id(`,"organization_id":`, a.OrganizationID)
	w.raw(`,"brand":{`)
	w.entity(&a.Brand.Entity)
	w.integer(`,"revision":`, a.Brand.Revision)
	w.raw(`},"competitors":[`)
	for i := range a.Competitors {
		w.raw(open(i))
		w.entity(&a.Competitors[i])
		w.raw(`}`)
	}
	w.raw(`],"prompt":{`)
	w.id(`"id":`, a.Prompt.ID)
	w.text(`,"text":`, a.Prompt.Text)
	w.id(`,"set_id":`, a.Prompt.SetID)
	w.someID(`,"topic_id":`, a.Prompt.TopicID)
	if b := a.Prompt.IsBranded; b != nil {
		w.flag(`,"is_branded":`, *b)
	}
	w.text(`},"platform":`, a.Platform)
	w.text(`,"model":`, a.Model)
	w.someText(`,"served_model":`, a.ServedModel)
	w.text(`,"region":`, a.Region)
	w.someText(`,"language":`, a.Language)
	w.someText(`,"surface":`, string(a.Surface))
	w.integer(`,"sample":`, a.Sample)
	w.someID(`,"job_id":`, a.JobID)
	w.someFlag(`,"simulated":true`, a.Simulated)
	w.instant(`,"answered_at":`, a.AnsweredAt)
	w.someInteger(`,"latency_ms":`, a.LatencyMS)
	w.someInteger(`,"attempts":`, int64(a.Attempts))
	w.someText(`,"finish":`, string(a.Finish))
	w.someText(`,"text":`, a.Text)
	w.citations(a.Citations)
	w.texts(`,"search_queries":`, a.SearchQueries)
	w.products(a.Products)
	w.outcome(a)
	w.raw(`}`)
}

// open begins the i-th object of a list.
func open(i int) string {
	if i == 0 {
		return `{`
	}
	return `,{`
}

func (w *writer) entity(e *Entity) {
	w.id(`"id":`, e.ID)
	w.text(`,"name":`, e.Name)
	w.texts(`,"aliases":`, e.Aliases)
	w.texts(`,"domains":`, e.Domains)
}

func (w *writer) citations(all []Citation) {
	if len(all) == 0 {
		return
	}
	w.raw(`,"citations":[`)
	for i := range all {
		w.raw(open(i))
		w.text(`"url":`, all[i].URL)
		w.someText(`,"title":`, all[i].Title)
		w.flag(`,"cited":`, all[i].Cited)
		w.raw(`}`)
	}
	w.raw(`]`)
}

func (w *writer) products(all []Product) {
	if len(all) == 0 {
		return
	}
	w.raw(`,"products":[`)
	for i := range all {
		p := &all[i]
		w.raw(open(i))
		w.text(`"title":`, p.Title)
		w.someInteger(`,"position":`, int64(p.Position))
		w.someText(`,"brand":`, p.Brand)
		w.someText(`,"price_amount":`, p.PriceAmount)
		w.someText(`,"price_currency":`, p.PriceCurrency)
		w.someText(`,"url":`, p.URL)
		w.someText(`,"image_url":`, p.ImageURL)
		if p.Rating != 0 {
			w.raw(`,"rating":`)
			w.b = strconv.AppendFloat(w.b, p.Rating, 'g', -1, 64)
		}
		w.someInteger(`,"review_count":`, p.ReviewCount)
		w.raw(`}`)
	}
	w.raw(`]`)
}

func (w *writer) outcome(a *Answer) {
	if u := a.Usage; u != nil {
		w.integer(`,"usage":{"input_tokens":`, u.InputTokens)
		w.integer(`,"output_tokens":`, u.OutputTokens)
		w.someInteger(`,"searches":`, u.Searches)
		w.someText(`,"cost_usd":`, u.CostUSD)
		w.raw(`}`)
	}
	if g := a.GivenUp; g != nil {
		w.text(`,"given_up":{"class":`, g.Class)
		w.someText(`,"error":`, g.Error)
		w.raw(`}`)
	}
	if m := a.Reread; m != nil {
		w.integer(`,"reread":{"min_extract_version":`, int64(m.MinExtractVersion))
		w.raw(`}`)
	}
}

package event

import "strconv"

func (r *reader) visit(v *Visit) error {
	return r.object(func(key string) error {
		switch key {
		case "v":
			return r.small(&v.V)
		case "id":
			return r.id(&v.ID)
		case "organization_id":
			return r.id(&v.OrganizationID)
		case "brand_id":
			return r.id(&v.BrandID)
		case "at":
			return r.instant(&v.At)
		case "event":
			return r.text((*string)(&v.Event))
		case "platform":
			return r.text(&v.Platform)
		case "platform_by":
			return r.text(&v.PlatformBy)
		case "host":
			return r.text(&v.Host)
		case "path":
			return r.text(&v.Path)
		case "referrer_host":
			return r.text(&v.ReferrerHost)
		case "country":
			return r.text(&v.Country)
		case "country_by":
			return r.text(&v.CountryBy)
		case "language":
			return r.text(&v.Language)
		case "screen":
			return r.text(&v.Screen)
		case "time_zone":
			return r.text(&v.TimeZone)
		case "session":
			return r.text(&v.Session)
		case "new_session":
			return r.flag(&v.NewSession)
		case "visitor":
			return r.hash(&v.Visitor)
		case "goal":
			return optional(r, &v.Goal, r.goal)
		case "simulated":
			return r.flag(&v.Simulated)
		default:
			return r.skip()
		}
	})
}

func (r *reader) goal(g *Goal) error {
	return r.object(func(key string) error {
		switch key {
		case "name":
			return r.text(&g.Name)
		case "value":
			return r.text(&g.Value)
		case "currency":
			return r.text(&g.Currency)
		default:
			return r.skip()
		}
	})
}

func (w *writer) visit(v *Visit) {
	w.integer(`{"v":`, Version)
	w.id(`,"id":`, v.ID)
	w.id(`,"organization_id":`, v.OrganizationID)
	w.id(`,"brand_id":`, v.BrandID)
	w.instant(`,"at":`, v.At)
	w.text(`,"event":`, string(v.Event))
	w.text(`,"platform":`, v.Platform)
	w.someText(`,"platform_by":`, v.PlatformBy)
	w.text(`,"host":`, v.Host)
	w.text(`,"path":`, v.Path)
	w.someText(`,"referrer_host":`, v.ReferrerHost)
	w.someText(`,"country":`, v.Country)
	w.someText(`,"country_by":`, v.CountryBy)
	w.someText(`,"language":`, v.Language)
	w.someText(`,"screen":`, v.Screen)
	w.someText(`,"time_zone":`, v.TimeZone)
	w.someText(`,"session":`, v.Session)
	w.someFlag(`,"new_session":true`, v.NewSession)
	if v.Visitor != 0 {
		w.raw(`,"visitor":`)
		w.b = strconv.AppendUint(w.b, v.Visitor, 10)
	}
	if g := v.Goal; g != nil {
		w.text(`,"goal":{"name":`, g.Name)
		w.someText(`,"value":`, g.Value)
		w.someText(`,"currency":`, g.Currency)
		w.raw(`}`)
	}
	w.someFlag(`,"simulated":true`, v.Simulated)
	w.raw(`}`)
}

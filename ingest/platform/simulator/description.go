package simulator

import (
	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
)

// Description is the simulator as a platform, at the made-up price of usage.
var Description = describe(platform.Simulator, "Simulator")

// ShoppingDescription is the same for simulator-shopping.
var ShoppingDescription = describe(platform.SimulatorShopping, "Simulator, shopping")

func describe(slug, name string) platform.Description {
	d := platform.Description{Slug: slug, Name: name, TakesRegion: true}
	for _, model := range Models {
		d.Models = append(d.Models, platform.Model{
			Slug: model, Typical: event.Usage{InputTokens: 50, OutputTokens: 250, Searches: 2},
			Price: &platform.Price{Currency: "USD", Date: "2026-11-01", PerMillionInputTokens: "2", PerMillionOutputTokens: "8", PerThousandSearches: "5"},
		})
	}
	return d
}

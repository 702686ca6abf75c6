package verdict

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkJudge(b *testing.B) {
	for name, size := range map[string][2]int{"10x3": {10, 3}, "25x3": {25, 3}} {
		b.Run(name, func(b *testing.B) {
			s := simulation{
				prompts: size[0], platforms: size[1], days: 84, mean: 0.5, weather: 0.6,
				random: rand.New(rand.NewPCG(1, 2)),
			}
			basket := s.basket("brand")
			for b.Loop() {
				basket.Judge(WindowTo(83), Row{Entity: "brand"})
			}
		})
	}
}

// BenchmarkCheck checks a brand of 25 prompts on three platforms: 4 rows of 90 looks, three times.
func BenchmarkCheck(b *testing.B) {
	s := simulation{
		prompts: 25, platforms: 3, days: CheckedDays, dropDay: CheckedDays, mean: 0.5, weather: 0.6,
		random: rand.New(rand.NewPCG(1, 2)),
	}
	basket := s.basket("brand")
	for b.Loop() {
		Check{}.Add(basket, CheckedDays-1, "brand")
	}
	b.ReportMetric(200*b.Elapsed().Seconds()/float64(b.N), "s/200-brands")
}

// BenchmarkAlarms replays the last 90 days of a brand of 25 prompts on three platforms.
func BenchmarkAlarms(b *testing.B) {
	s := simulation{
		prompts: 25, platforms: 3, days: WatchedDays + 97, mean: 0.5, weather: 0.6, random: rand.New(rand.NewPCG(1, 2)),
	}
	s.dropDay = s.days
	basket := s.basket("brand")
	for b.Loop() {
		if _, err := basket.Alarms(b.Context(), "brand", Day(s.days-90), Day(s.days-1)); err != nil {
			b.Fatal(err)
		}
	}
}

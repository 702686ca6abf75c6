package web

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// Text is legible on its ground, marks are seen on theirs, and no two slots or steps look alike to anybody, in both
// themes.
func TestColoursAreToldApart(t *testing.T) {
	for theme, colours := range themes(t) {
		grounds := []string{"ground", "surface", "sunken"}
		texts := map[string][]string{
			"text":      append(slices.Clone(grounds), "mark", "ramp-1", "ramp-2", "ramp-3", "ramp-4"),
			"text-soft": grounds,
			"accent":    {"ground", "surface", "accent-soft"}, "on-accent": {"accent"}, "on-ramp": {"ramp-5", "ramp-6"},
			"warn": {"surface", "warn-soft"}, "danger": {"surface", "danger-soft"},
		}
		marks := map[string][]string{"line-strong": grounds, "other": grounds, "focus": grounds}
		var slots []string
		for i := 1; i <= 13; i++ {
			marks[fmt.Sprintf("slot-%d", i)] = []string{"surface", "sunken"}
			if i < 9 {
				slots = append(slots, fmt.Sprintf("slot-%d", i))
			}
		}
		for least, pairs := range map[float64]map[string][]string{4.5: texts, 3: marks} {
			for name, others := range pairs {
				for _, ground := range others {
					if got := contrast(colours[name], colours[ground]); got < least {
						t.Errorf("%s: the contrast of %s on %s is %.2f, want %v", theme, name, ground, got, least)
					}
				}
			}
		}
		areDistinct(t, theme, colours, append(slots, "accent"), 11)
		// types of sources
		areDistinct(t, theme, colours,
			[]string{"accent", "slot-5", "slot-9", "slot-10", "slot-11", "slot-12", "slot-13"}, 6)
		for i := 1; i < 6; i++ {
			areDistinct(t, theme, colours, []string{fmt.Sprintf("ramp-%d", i), fmt.Sprintf("ramp-%d", i+1)}, 8)
		}
	}
}

// areDistinct reports colours that look alike to some kind of sight: their CIEDE2000 difference is below least.
func areDistinct(t *testing.T, theme string, colours map[string]rgb, names []string, least float64) {
	t.Helper()
	for i, a := range names {
		for _, b := range names[:i] {
			for sight, matrix := range sights {
				if got := difference(colours[a].lab(matrix), colours[b].lab(matrix)); got < least {
					t.Errorf("%s: with %s sight %s and %s differ by %.1f, want %v", theme, sight, a, b, got, least)
				}
			}
		}
	}
}

// themes reads the colours of tokens.css.
func themes(t *testing.T) map[string]map[string]rgb {
	t.Helper()
	text, err := os.ReadFile("page/style/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark := map[string]rgb{}, map[string]rgb{}
	for _, m := range regexp.MustCompile(`--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)`).FindAllSubmatch(text, -1) {
		light[string(m[1])], dark[string(m[1])] = colour(t, string(m[2])), colour(t, string(m[3]))
	}
	if len(light) < 30 {
		t.Fatalf("tokens.css has %d colours", len(light))
	}
	return map[string]map[string]rgb{"light": light, "dark": dark}
}

// An rgb is a colour of sRGB in linear light.
type rgb [3]float64

func colour(t *testing.T, hex string) (c rgb) {
	t.Helper()
	for i := range c {
		value, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c[i] = float64(value) / 255
		if c[i] <= 0.04045 {
			c[i] /= 12.92
		} else {
			c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	return c
}

// contrast is WCAG 2's ratio of luminances.
func contrast(a, b rgb) float64 {
	x, y := a.dot(0.2126, 0.7152, 0.0722), b.dot(0.2126, 0.7152, 0.0722)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (c rgb) dot(r, g, b float64) float64 { return r*c[0] + g*c[1] + b*c[2] }

// sights are matrices of linear light: Machado, Oliveira and Fernandes 2009, severity 1.
var sights = map[string][3]rgb{
	"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is a colour as an eye sees it, in CIELAB under D65.
func (c rgb) lab(matrix [3]rgb) (lab [3]float64) {
	var v rgb
	for i, row := range matrix {
		v[i] = min(1, max(0, row.dot(c[0], c[1], c[2])))
	}
	f := func(x float64) float64 {
		if x > 0.008856 {
			return math.Cbrt(x)
		}
		return 7.787*x + 16.0/116
	}
	x := f(v.dot(0.4124564, 0.3575761, 0.1804375) / 0.95047)
	y := f(v.dot(0.2126729, 0.7151522, 0.0721750))
	z := f(v.dot(0.0193339, 0.1191920, 0.9503041) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// difference is CIEDE2000 (Sharma, Wu and Dalal 2005).
func difference(p, q [3]float64) float64 {
	const deg = math.Pi / 180
	mean := (math.Hypot(p[1], p[2]) + math.Hypot(q[1], q[2])) / 2
	g := 1 + 0.5*(1-math.Sqrt(seventh(mean)))
	polar := func(c [3]float64) (chroma, hue float64) {
		return math.Hypot(g*c[1], c[2]), math.Mod(math.Atan2(c[2], g*c[1])/deg+360, 360)
	}
	c1, h1 := polar(p)
	c2, h2 := polar(q)
	turn, hue := h2-h1, (h1+h2)/2
	if math.Abs(turn) > 180 {
		turn -= math.Copysign(360, turn)
		hue = math.Mod(hue+180, 360)
	}
	if c1*c2 == 0 {
		turn, hue = 0, h1+h2
	}
	light, chroma := (p[0]+q[0])/2, (c1+c2)/2
	t := 1 - 0.17*math.Cos((hue-30)*deg) + 0.24*math.Cos(2*hue*deg) + 0.32*math.Cos((3*hue+6)*deg) -
		0.2*math.Cos((4*hue-63)*deg)
	dl := (q[0] - p[0]) / (1 + 0.015*(light-50)*(light-50)/math.Sqrt(20+(light-50)*(light-50)))
	dc := (c2 - c1) / (1 + 0.045*chroma)
	dh := 2 * math.Sqrt(c1*c2) * math.Sin(turn/2*deg) / (1 + 0.015*chroma*t)
	rotation := -2 * math.Sqrt(seventh(chroma)) * math.Sin(60*math.Exp(-(hue-275)*(hue-275)/625)*deg)
	return math.Sqrt(dl*dl + dc*dc + dh*dh + rotation*dc*dh)
}

func seventh(chroma float64) float64 {
	p := math.Pow(chroma, 7)
	return p / (p + math.Pow(25, 7))
}

// The difference is that of the published pairs.
func TestDifferenceIsCIEDE2000(t *testing.T) {
	for _, c := range []struct {
		p, q [3]float64
		want float64
	}{
		{[3]float64{50, 2.6772, -79.7751}, [3]float64{50, 0, -82.7485}, 2.0425},
		{[3]float64{50, -1, 2}, [3]float64{50, 0, 0}, 2.3669},
		{[3]float64{50, 2.5, 0}, [3]float64{73, 25, -18}, 27.1492},
		{[3]float64{60.2574, -34.0099, 36.2677}, [3]float64{60.4626, -34.1751, 39.4387}, 1.2644},
		{[3]float64{22.7233, 20.0904, -46.694}, [3]float64{23.0331, 14.973, -42.5619}, 2.0373},
	} {
		if got := difference(c.p, c.q); math.Abs(got-c.want) > 0.0001 {
			t.Errorf("%v and %v differ by %.4f, want %v", c.p, c.q, got, c.want)
		}
	}
}

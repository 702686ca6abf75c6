package event

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." +
		"eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	anUUID = "550e8400-e29b-41d4-a716-446655440000"
	hex32  = "2a305994db4f3de64a7c84614f339e77"
)

func TestSecretsInPathsAreMasked(t *testing.T) {
	for path, want := range map[string]string{
		"/reset/" + jwt:                                            "/reset/{masked}",
		"/reset/" + jwt + "/done":                                  "/reset/{masked}/done",
		"/n/eyJhbGciOiJub25lIn0":                                   "/n/{masked}",
		"/session/" + hex32 + hex32[:9]:                            "/session/{masked}",
		"/a/" + strings.ToUpper(hex32+hex32):                       "/a/{masked}",
		"/signed/" + hex32 + hex32 + ".html":                       "/signed/{masked}",
		"/invite/" + hex32:                                         "/invite/{masked}",
		"/verify/" + anUUID:                                        "/verify/{masked}",
		"/Verify-Email/" + strings.ToUpper(anUUID) + "/":           "/Verify-Email/{masked}/",
		"/users/" + anUUID + "/password":                           "/users/{masked}/password",
		"/reset/MQ/c9xk2s-" + hex32 + "/":                          "/reset/MQ/{masked}/", // Django
		"/cart;jsessionid=" + strings.ToUpper(hex32):               "/{masked}",
		"/c/N-5yc1vZc4l8Zbwo5qZ1z1wqox":                            "/c/{masked}",
		"/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms": "/document/d/{masked}",
		"/r%2FXE6wE17zmphl3KqAPFxO":                                "/{masked}",
		"/unsubscribe/ana@example.org":                             "/unsubscribe/{masked}",
		"/u/ana.b%2Bnews%40mail.example.org/x":                     "/u/{masked}/x",
		"/" + jwt + "/" + jwt:                                      "/{masked}/{masked}",
	} {
		if got := MaskPath(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestPagesAreNotMasked(t *testing.T) {
	for _, path := range []string{
		"", "/", "//", "/a", "*",
		"/products/" + anUUID, "/article/" + hex32, "/items/507f1f77bcf86cd799439011", "/dp/B0CHX1W1XY",
		"/Best-Espresso-Machines-2026-Under-500-Tested-by-20-Baristas",
		"/p/Samsung-QN65S95DAFXZA-65-Inch-OLED-4K-TV", "/p/LG-C4-65in-OLED65C4PUA-4K-TV-2026", "/p/MLPF3LL-A",
		"/p/iphone15promax256gbblack",
		"/NINJA-Foodie-Dual-Zone-Flex-Basket-7-qt-Black-Air-Fryer-Cook-2-Foods-2-Ways-DZ071",
		"/2026/11/23/a-long-title-of-many-words-that-goes-on-and-on-and-on-until-nobody-reads-it-any-more",
		"/20261123123456789012345678", "/2026-11-23T12:34:56.789Z",
		"/reset/2026-11-23-how-to-reset-a-phone-in-10-steps",
		"/commit/" + hex32 + hex32[:8], "/login/OAuth2ServiceAccount", "/verify/your-identity-with-3-documents",
		"/wiki/Ångström",
		"/%E3%82%A8%E3%82%B9%E3%83%97%E3%83%AC%E3%83%83%E3%82%BD%E3%83%9E%E3%82%B7%E3%83%B32026",
		"/エスプレッソマシン2026のおすすめランキング",
		"/caf%C3%A9-1234-%D0%BA%D0%BE%D1%84%D0%B5", "/@ana", "/@ana@social.example", "/npm/react@18.2.0/umd",
		"/npm/@scope/name@1.2.3-rc.1",
		"/img/logo@2x.png", "/img/banner@0.5.webp", "/a@b", "/me@localhost/", "/maps/@52.52,13.40,12z", "/" + Masked,
	} {
		if got := MaskPath(path); got != path {
			t.Errorf("%s is %s", path, got)
		}
		if n := testing.AllocsPerRun(1, func() { MaskPath(path) }); n > 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

// Of random tokens in the usual forms nearly all are masked: those that are not lack a class of characters.
func TestRandomTokensAreMasked(t *testing.T) {
	random := rand.NewChaCha8([32]byte{16})
	const tokens = 5000
	for _, form := range []struct {
		name  string
		bytes int
		write func([]byte) string
		least float64
	}{
		{"base64url of 120 bits", 15, base64.RawURLEncoding.EncodeToString, 0.93},
		{"base64url of 128 bits", 16, base64.RawURLEncoding.EncodeToString, 0.94},
		{"base64url of 256 bits", 32, base64.RawURLEncoding.EncodeToString, 0.99},
		{"hex of 192 bits", 24, hex.EncodeToString, 1},
	} {
		masked, token := 0, make([]byte, form.bytes)
		for range tokens {
			if _, err := random.Read(token); err != nil {
				t.Fatal(err)
			}
			if MaskPath("/a/"+form.write(token)) == "/a/"+Masked {
				masked++
			}
		}
		if got := float64(masked) / tokens; got < form.least {
			t.Errorf("%s: %.3f are masked, want %.2f", form.name, got, form.least)
		}
	}
}

// Masking replaces whole segments, keeps the others, and is the same twice.
func FuzzMaskPath(f *testing.F) {
	for _, path := range []string{
		"/reset/" + jwt, "/verify/" + anUUID + "//", "/a%40b.cd/%", "/é@b.cd%4",
		"/%E3%82%A8" + hex32, "/@2x.", "@.", "/a@b.",
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		masked := MaskPath(path)
		if again := MaskPath(masked); again != masked {
			t.Errorf("%q is %q, then %q", path, masked, again)
		}
		if utf8.ValidString(path) != utf8.ValidString(masked) && utf8.ValidString(path) {
			t.Errorf("%q is %q, which is not UTF-8", path, masked)
		}
		before, after := strings.Split(path, "/"), strings.Split(masked, "/")
		if len(before) != len(after) {
			t.Fatalf("%q is %q", path, masked)
		}
		for i := range before {
			if after[i] != before[i] && after[i] != Masked {
				t.Errorf("%q is %q", path, masked)
			}
		}
	})
}

func BenchmarkMaskPath(b *testing.B) {
	for name, path := range map[string]string{
		"page": "/shop/espresso-machines", "title": "/shop/NINJA-Foodie-Dual-Zone-Flex-Basket-7-qt-Black",
		"secret": "/reset/" + jwt,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				MaskPath(path)
			}
		})
	}
}

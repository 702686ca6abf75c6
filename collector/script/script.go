// Package script serves the pixel: t.js, and each version of it at a permanent address of its own.
//
// t.js is the source to read, esbuild makes served/t.js of it (`go generate`, which `make build` does). A file that a
// page pins by its integrity must stay as it is: before a release changes served/t.js, the released one is copied to
// served/t.<its hash>.js.
package script

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"path"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/internal/httpd"
)

//go:generate go run ./minify

//go:embed served/*.js
var served embed.FS

// Path is where the newest version is served.
const Path = "/t.js"

const (
	anHour = "public, max-age=3600"
	aYear  = "public, max-age=31536000, immutable"
)

// A version of the script, in every form that it is sent in.
type version struct {
	hash   string            // of the plain text: 16 hexadecimal digits
	bodies map[string][]byte // by Content-Encoding; "" is plain
}

// read returns the newest version and all of them, of the embedded files.
var read = sync.OnceValues(func() (version, []version) {
	names, err := served.ReadDir("served")
	if err != nil {
		panic(err)
	}
	var newest version
	var all []version
	for _, name := range names {
		text, err := served.ReadFile(path.Join("served", name.Name()))
		if err != nil {
			panic(err)
		}
		v := versionOf(text)
		if all = append(all, v); name.Name() == "t.js" {
			newest = v
		}
	}
	return newest, all
})

func versionOf(text []byte) version {
	sum := sha256.Sum256(text)
	return version{hex.EncodeToString(sum[:8]), map[string][]byte{
		"":     text,
		"gzip": fasthttp.AppendGzipBytesLevel(nil, text, fasthttp.CompressBestCompression), // minify's test does so
		"br":   compressBrotli(text),
	}}
}

// compressBrotli has a window of 4 KB, which holds the whole script; by default the library takes 32 MB for it.
func compressBrotli(text []byte) []byte {
	var b bytes.Buffer
	w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 12})
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer does not fail
	}
	return b.Bytes()
}

func (v version) path() string { return "/t." + v.hash + ".js" }

// VersionedPath is the permanent address of the newest version, /t.<hash>.js.
func VersionedPath() string {
	newest, _ := read()
	return newest.path()
}

// Integrity is the value of the integrity attribute of a script tag with VersionedPath: sha384-….
func Integrity() string {
	newest, _ := read()
	sum := sha512.Sum384(newest.bodies[""])
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Mount adds GET and HEAD of Path, which caches keep for an hour, and of every version, which they keep for a year. Any
// site may load them, and check their integrity (CORS), also one that isolates itself (CORP). The edge (internal/httpd)
// answers 304.
func Mount(app fiber.Router) {
	newest, versions := read()
	app.Get(Path, newest.handler(anHour))
	for _, v := range versions {
		app.Get(v.path(), v.handler(aYear))
	}
}

func (v version) handler(keep string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		encoding := httpd.Preferred(c.Get(fiber.HeaderAcceptEncoding))
		tag := `"` + v.hash + encoding + `"` // a strong tag is of one form only
		c.Set(fiber.HeaderCacheControl, keep)
		c.Set(fiber.HeaderETag, tag)
		c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
		c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
		c.Set("Cross-Origin-Resource-Policy", "cross-origin")
		c.Set(fiber.HeaderContentType, "text/javascript; charset=utf-8")
		c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
		if encoding != "" {
			c.Set(fiber.HeaderContentEncoding, encoding)
		}
		c.Response().SetBodyRaw(v.bodies[encoding])
		return nil
	}
}

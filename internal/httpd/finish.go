package httpd

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// compressFrom is the size in bytes below which compressing costs more than it saves.
const compressFrom = 1024

// finish adds an ETag to a whole successful body, answers 304 to a client with that tag, and compresses the body as the
// client accepts, where the surface wants that.
//
// fiber's own pair is not used: its ETag is a CRC-32, absent from the 304, and ignores `*`; its compression ignores the
// q values of Accept-Encoding.
func finish(c *fiber.Ctx, surface *Surface) error {
	response := c.Response()
	if response.IsBodyStream() || len(response.Body()) == 0 {
		return nil
	}
	asks := c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
	if surface.ETag && asks && response.StatusCode() == http.StatusOK {
		tag := string(response.Header.Peek(fiber.HeaderETag))
		if tag == "" {
			sum := sha256.Sum256(response.Body())
			tag = `W/"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"` // weak: the same in another compression
			c.Set(fiber.HeaderETag, tag)
		}
		if matches(c.Get(fiber.HeaderIfNoneMatch), tag) {
			if surface.Compress {
				c.Vary(fiber.HeaderAcceptEncoding)
			}
			response.ResetBody()
			c.Status(http.StatusNotModified)
			return nil
		}
	}
	if surface.Compress && compressible(string(response.Header.ContentType())) &&
		len(response.Header.ContentEncoding()) == 0 {
		c.Vary(fiber.HeaderAcceptEncoding)
		compress(response, Preferred(c.Get(fiber.HeaderAcceptEncoding)))
	}
	return nil
}

// matches compares weakly (RFC 9110 §13.1.2): W/"a" and "a" are one tag, and * is any.
func matches(ifNoneMatch, tag string) bool {
	for tagged := range strings.SplitSeq(ifNoneMatch, ",") {
		tagged = strings.TrimSpace(tagged)
		if tagged == "*" || tagged != "" && strings.TrimPrefix(tagged, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

func compressible(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") ||
		strings.HasSuffix(kind, "javascript") || kind == "image/svg+xml"
}

func compress(response *fasthttp.Response, encoding string) {
	body := response.Body()
	if len(body) < compressFrom {
		return
	}
	switch encoding {
	case "br":
		response.SetBodyRaw(fasthttp.AppendBrotliBytes(nil, body))
	case "gzip":
		response.SetBodyRaw(fasthttp.AppendGzipBytes(nil, body))
	default:
		return
	}
	response.Header.SetContentEncoding(encoding)
}

// Preferred is br or gzip, whichever the client gives the higher weight, br between equals, "" when it accepts neither
// (RFC 9110 §12.5.3). A `*` is the weight of encodings that are not named.
func Preferred(acceptEncoding string) string {
	weights := map[string]float64{}
	for part := range strings.SplitSeq(strings.ToLower(acceptEncoding), ",") {
		name, params, _ := strings.Cut(part, ";")
		weight := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			parsed, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			if err != nil {
				continue
			}
			weight = parsed
		}
		weights[strings.TrimSpace(name)] = weight
	}
	best, bestWeight := "", 0.0
	for _, encoding := range []string{"br", "gzip"} {
		weight, named := weights[encoding]
		if !named {
			weight = weights["*"]
		}
		if weight > bestWeight {
			best, bestWeight = encoding, weight
		}
	}
	if identity, named := weights["identity"]; named && identity > bestWeight {
		return ""
	}
	return best
}

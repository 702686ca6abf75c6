// Command minify makes served/t.js of t.js: with the hosts of package referral in it, and as few bytes as esbuild can.
// It prints their number. Run by `go generate ./collector/script`, which `make build` does.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/valyala/fasthttp"

	"github.com/answerscope/answerscope/collector/referral"
)

func main() {
	if err := run("t.js", "served/t.js"); err != nil {
		fmt.Fprintln(os.Stderr, "minify:", err)
		os.Exit(1)
	}
}

func run(source, target string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	small, err := minify(string(text), referral.Table())
	if err != nil {
		return fmt.Errorf("minify %s: %w", source, err)
	}
	fmt.Fprintf(os.Stderr, "t.js: %d bytes, %d gzipped, %d brotli\n", len(small),
		len(fasthttp.AppendGzipBytesLevel(nil, small, fasthttp.CompressBestCompression)),
		len(fasthttp.AppendBrotliBytesLevel(nil, small, fasthttp.CompressBrotliBestCompression)))
	if old, err := os.ReadFile(target); err == nil && string(old) == string(small) {
		return nil // its time of change stays, and with it what was built of it
	}
	return os.WriteFile(target, small, 0o644)
}

// minify puts the table where the source has the words PLATFORMS and PARAMETERS.
func minify(source string, table []referral.Platform) ([]byte, error) {
	source = strings.Replace(source, "PLATFORMS", strconv.Quote(platforms(table)), 1)
	source = strings.Replace(source, "PARAMETERS", parameters(table), 1)
	result := api.Transform(source, api.TransformOptions{
		Loader:            api.LoaderJS,
		Target:            api.ES2018,
		Charset:           api.CharsetASCII, // whatever the page says its own is
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
	})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("line %d: %s", result.Errors[0].Location.Line, result.Errors[0].Text)
	}
	return result.Code, nil
}

// platforms is a word for each platform: its slug, then whatever else names it, as alternatives of a regular expression
// (t.js escapes the dots).
func platforms(table []referral.Platform) string {
	words := make([]string, len(table))
	for i, platform := range table {
		names := append([]string{platform.Slug}, platform.UTM...)
		for _, host := range platform.Hosts {
			names = append(names, host.Name+host.Path)
		}
		words[i] = strings.Join(names, "|")
	}
	return strings.Join(words, " ")
}

// parameters are the other parameters of a page's URL that name a platform, by the value that does, as alternatives of
// a regular expression.
func parameters(table []referral.Platform) string {
	var found []string
	for _, platform := range table {
		for _, parameter := range platform.Parameters {
			found = append(found, parameter.Name+"=(?="+strings.ReplaceAll(parameter.Value, ".", `\.`)+"$)")
		}
	}
	return strings.Join(found, "|")
}

// Command minify makes served/t.js of t.js: with the hosts of package referral in it, and as few bytes as esbuild can.
// It prints their number. Run by `go generate ./collector/script`, which `make build` does.
package main

import (
	"fmt"
	"os"
	"slices"
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
	small, err := minify(string(text), carried(referral.Table()))
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

// leftOut are the hosts that t.js has no room for, the least visited ones. Visits from them send no beacon.
var leftOut = []string{
	// A referrer has a path only within its own site, unless that site asks for more.
	"bing.com/ck/a", "x.com/i/grok",
	"edgeservices.bing.com",
	"yiyan.baidu.com", "ai.baidu.com", "chatglm.cn", "chatplus.com", "chat-gpt.org", "app.jasper.ai",
	"app.writesonic.com",
	"aistudio.google.com", "copilot.cloud.microsoft", "kimi.ai", "kimi.moonshot.cn", "tongyi.com", "genspark.ai",
	"felo.ai", "lumo.proton.me",
	"bard.google.com", "labs.google", "komo.ai", "iask.ai",
}

// carried is the table without leftOut. A platform without hosts is no row of it.
func carried(table []referral.Platform) []referral.Platform {
	var small []referral.Platform
	for _, platform := range table {
		platform.Hosts = slices.DeleteFunc(platform.Hosts, func(h referral.Host) bool {
			return slices.Contains(leftOut, h.Name+h.Path)
		})
		if len(platform.Hosts) > 0 {
			small = append(small, platform)
		}
	}
	return small
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

// platforms is a word for each platform, the alternatives of a regular expression; the first one begins with its slug.
func platforms(table []referral.Platform) string {
	words := make([]string, len(table))
	for i, platform := range table {
		words[i] = strings.Join(alternatives(platform), "|")
	}
	slices.SortStableFunc(words, func(a, b string) int { // equal endings beside each other are packed better
		return strings.Compare(ending(a), ending(b))
	})
	return strings.Join(words, " ")
}

// alternatives match the platform's names: the slug, values of utm_source, and hosts. A host that begins with one of
// the others is an ending of it that may be absent, chatgpt(\.com)?, and so is what follows the name in the package of
// an app. What comes before it there is not compared: the collector does that.
func alternatives(platform referral.Platform) []string {
	var list []string
	hosts := platform.Hosts
	for _, name := range append([]string{platform.Slug}, platform.UTM...) {
		var endings []string
		var others []referral.Host
		for _, host := range hosts {
			if rest, ok := strings.CutPrefix(host.Name, name); ok && host.Path == "" {
				endings = append(endings, quoted(rest))
			} else {
				others = append(others, host)
			}
		}
		for _, app := range platform.Apps {
			if _, rest, ok := strings.Cut(app+".", "."+name+"."); ok && rest != "" {
				endings = append(endings, quoted("."+strings.TrimSuffix(rest, ".")))
			}
		}
		if hosts = others; len(endings) > 0 {
			name += "(" + strings.Join(endings, "|") + ")?"
		}
		list = append(list, name)
	}
	for _, host := range hosts {
		list = append(list, quoted(host.Name+host.Path))
	}
	return list
}

// parameters are the names of parameters that name a platform, with the value that does.
func parameters(table []referral.Platform) string {
	var list []string
	for _, platform := range table {
		for _, parameter := range platform.Parameters {
			list = append(list, fmt.Sprintf("%s(?==%s)", parameter.Name, strings.ReplaceAll(quoted(parameter.Value), `\`, `\\`)))
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return "(" + strings.Join(list, "|") + ")"
}

func ending(word string) string {
	return strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz")
}

// quoted is a host as it stands in a regular expression.
func quoted(host string) string { return strings.ReplaceAll(host, ".", `\.`) }

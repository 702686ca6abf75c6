package imports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"github.com/answerscope/answerscope/internal/useragent"
)

// Ranges are the addresses that operators publish for their crawlers, by the crawler's name in lower case.
type Ranges map[string][]netip.Prefix

// MaxRanges bounds a file of ranges, in bytes.
const MaxRanges = 16 << 20

// publishedRanges is the form in which operators publish the ranges of a crawler.
type publishedRanges struct {
	Prefixes []struct {
		IPv4 string `json:"ipv4Prefix"`
		IPv6 string `json:"ipv6Prefix"`
	} `json:"prefixes"`
}

// Add reads a file of ranges: JSON as operators publish it,
//
//	{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}
//
// for the given crawler; without a crawler, a JSON object of such objects by crawler, or CSV of lines crawler,prefix.
func (r Ranges) Add(crawler string, file io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(file, MaxRanges+1))
	if err != nil {
		return fmt.Errorf("read ranges: %w", err)
	}
	if len(text) > MaxRanges {
		return fmt.Errorf("ranges of over %d bytes: want at most so many", MaxRanges)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !bytes.HasPrefix(text, []byte("{")) {
		return r.addCSV(crawler, text)
	}
	if crawler != "" {
		return r.addPublished(crawler, text)
	}
	var byCrawler map[string]json.RawMessage
	if err := json.Unmarshal(text, &byCrawler); err != nil {
		return fmt.Errorf("ranges: want JSON: %w", err)
	}
	if byCrawler["prefixes"] != nil {
		return errors.New("the file has the ranges of one crawler and does not name it: " +
			"want CRAWLER=FILE, such as GPTBot=gptbot.json")
	}
	var errs []error
	for name, published := range byCrawler {
		errs = append(errs, r.addPublished(name, published))
	}
	return errors.Join(errs...)
}

func (r Ranges) addPublished(crawler string, text []byte) error {
	var published publishedRanges
	if err := json.Unmarshal(text, &published); err != nil {
		return fmt.Errorf("ranges of %s: want JSON: %w", crawler, err)
	}
	if len(published.Prefixes) == 0 {
		return fmt.Errorf(`ranges of %s: want {"prefixes": [{"ipv4Prefix": …}, …]}`, crawler)
	}
	for _, p := range published.Prefixes {
		if err := r.add(crawler, p.IPv4+p.IPv6); err != nil {
			return err
		}
	}
	return nil
}

func (r Ranges) addCSV(crawler string, text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, prefix, ok := strings.Cut(line, ",")
		if !ok {
			name, prefix = crawler, line
		}
		if strings.EqualFold(strings.TrimSpace(prefix), "prefix") && n == 1 {
			continue // the names of the columns
		}
		if err := r.add(strings.Trim(name, ` "`), strings.Trim(prefix, ` "`)); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// add adds a prefix or an address.
func (r Ranges) add(crawler, text string) error {
	prefix, err := netip.ParsePrefix(text)
	if address, addressErr := netip.ParseAddr(text); addressErr == nil {
		prefix, err = address.Unmap().Prefix(address.Unmap().BitLen())
	}
	if crawler == "" || err != nil {
		const want = "range %.60q of crawler %.60q: want a name and a prefix such as 192.0.2.0/24"
		return fmt.Errorf(want, text, crawler)
	}
	name := strings.ToLower(crawler)
	if r[name] == nil {
		if err := CheckCrawler(crawler); err != nil {
			return err
		}
	}
	r[name] = append(r[name], prefix.Masked())
	return nil
}

// CheckCrawler returns an error for a name, in any case, that is not in the list of crawlers: its ranges would verify
// nothing.
func CheckCrawler(name string) error {
	if c, ok := useragent.CrawlerOf(name); !ok || !strings.EqualFold(c.Name, name) {
		return fmt.Errorf("crawler %.60q: want one that is known, such as GPTBot (docs/platforms.md)", name)
	}
	return nil
}

// verify reports whether an address is in a crawler's published ranges; nil where none are published, or the address is
// unknown.
func (r Ranges) verify(crawler string, address netip.Addr) *bool {
	prefixes, ok := r[strings.ToLower(crawler)]
	if !ok || !address.IsValid() {
		return nil
	}
	return new(slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(address) }))
}

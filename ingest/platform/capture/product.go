package capture

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/currency"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// sell adds the shopping cards of a list, each once by its id. Positions count over all lists: where they begin anew,
// the highest before is added.
func (a *answer) sell(cards []wire.Object) {
	highest, offset := 0, 0
	for _, p := range a.products {
		highest = max(highest, p.Position)
	}
	for i, card := range cards {
		p, ok := product(card, a.request.Region)
		id := text(pick(card, "id"))
		if !ok || id != "" && slices.Contains(a.cards, id) {
			continue
		}
		if i == 0 && p.Position <= highest {
			offset = highest
		}
		if p.Position == 0 {
			p.Position = len(a.products) + 1
		} else {
			p.Position += offset
		}
		a.products, a.cards = append(a.products, p), append(a.cards, id)
	}
}

// product returns a shopping card of any source; ok is false where it has no title. Sources name one thing differently,
// and a name means the same in all of them.
func product(card wire.Object, region string) (p event.Product, ok bool) {
	title, _ := pick(card, "title", "name").(string)
	p = event.Product{
		Title:       truncate(strings.TrimSpace(title), event.MaxTitle),
		Brand:       text(pick(card, "brand", "brandName", "offers.brand")),
		PriceAmount: amount(pick(card, prices...)),
		URL:         withoutCampaign(text(pick(card, "url", "link", "product_link", "productLink", "offers.url"))),
		ImageURL: withoutCampaign(text(pick(card,
			"image_url", "imageUrl", "thumbnail", "image_urls", "imageUrls", "images.url", "images"))),
		ReviewCount: count(text(pick(card,
			"rating.count", "rating.votes_count", "reviews", "num_reviews", "numReviews"))),
	}
	p.Merchant, _, _ = strings.Cut(text(pick(card,
		"merchant", "merchants.name", "merchants", "seller", "source", "store", "offers.merchant")), " + ")
	p.Merchant, p.Brand = truncate(p.Merchant, event.MaxName), truncate(p.Brand, event.MaxName)
	if p.PriceAmount != "" {
		p.PriceCurrency = currencyOf(card, region)
	}
	if n, err := strconv.ParseFloat(text(pick(card, "rating.value", "rating")), 64); err == nil && n >= 0 && n <= 1e6 {
		p.Rating = n
	}
	if n, err := strconv.ParseUint(text(pick(card, "position")), 10, 31); err == nil {
		p.Position = int(n)
	}
	return p, p.Title != ""
}

// pick returns the first value at one of the paths. Of a list it takes the first item.
func pick(o wire.Object, paths ...string) any {
	for _, path := range paths {
		var value any = map[string]any(o)
		for name := range strings.SplitSeq(path, ".") {
			inner, _ := value.(map[string]any)
			value = inner[name]
			if list, ok := value.([]any); ok {
				value = append(list, nil)[0]
			}
		}
		if value != nil && value != "" {
			return value
		}
	}
	return nil
}

// text returns a text or number as text; "" another value.
func text(value any) string {
	switch value := value.(type) {
	case string:
		return strings.TrimSpace(value)
	case json.Number:
		return value.String()
	}
	return ""
}

// prices are the fields that hold the price of a card, a number before a text.
var prices = []string{
	"extracted_price", "price.amount", "price.value", "price.current", "price.raw", "price",
	"discountPrice.amount", "discountPrice", "offers.price.amount", "offers.price",
}

// amountForm matches an amount in a text, with blanks or apostrophes between thousands, or with points and commas. Of a
// range it matches the lower end.
var amountForm = regexp.MustCompile(`\d{1,3}(?:[ \x{a0}\x{202f}'’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)*`)

// separators are all but digits.
var separators = regexp.MustCompile(`\D`)

// amount returns a price as a decimal number; "" if it is none. Of two separators the last is the decimal one; a single
// one is decimal where one or two digits follow it.
func amount(value any) string {
	digits := text(value)
	if _, isNumber := value.(json.Number); !isNumber {
		digits = amountForm.FindString(digits)
		last := strings.LastIndexAny(digits, ".,")
		isDecimal := last >= 0 && strings.Count(digits, digits[last:last+1]) == 1 &&
			(len(digits)-last <= 3 || strings.ContainsAny(digits[:last], ".,"))
		if isDecimal {
			digits = separators.ReplaceAllString(digits[:last], "") + "." + digits[last+1:]
		} else {
			digits = separators.ReplaceAllString(digits, "")
		}
	}
	if decimal, ok := event.Decimal(digits); ok && decimal[0] != '-' {
		return decimal
	}
	return ""
}

// currencySigns are signs of currencies, the longer before the ones that they contain. A sign of several currencies has
// them by region.
var currencySigns = []struct {
	sign string
	code map[string]string // by region; "" any
}{
	{"US$", anywhere("USD")}, {"CA$", anywhere("CAD")}, {"C$", anywhere("CAD")}, {"A$", anywhere("AUD")},
	{"AU$", anywhere("AUD")}, {"R$", anywhere("BRL")}, {"€", anywhere("EUR")}, {"£", anywhere("GBP")},
	{"₺", anywhere("TRY")}, {"₹", anywhere("INR")}, {"₩", anywhere("KRW")}, {"zł", anywhere("PLN")},
	{"$", map[string]string{"us": "USD", "ca": "CAD", "au": "AUD", "mx": "MXN"}},
	{"¥", map[string]string{"jp": "JPY", "cn": "CNY"}},
}

func anywhere(code string) map[string]string { return map[string]string{"": code} }

var codeForm = regexp.MustCompile(`\b[A-Z]{3}\b`)

// currencyOf returns the ISO code of a card's currency: the code that it names, else by its sign; "" if it is unknown.
func currencyOf(card wire.Object, region string) string {
	var all strings.Builder
	fields := []string{"price.currency", "currency", "discountPrice.currency", "price.currencySymbol"}
	for _, path := range append(fields, prices...) {
		all.WriteString(text(pick(card, path)) + "\n")
	}
	for _, code := range codeForm.FindAllString(all.String(), -1) {
		if _, err := currency.ParseISO(code); err == nil {
			return code
		}
	}
	for _, s := range currencySigns {
		if strings.Contains(all.String(), s.sign) {
			return s.code[""] + s.code[strings.ToLower(region)]
		}
	}
	return ""
}

var countForm = regexp.MustCompile(`^\(?(\d[\d.,]*)\s*([KkMm]?)`)

// count returns a number of reviews, such as 384, "1,234" or "4.5K".
func count(text string) int64 {
	parts := countForm.FindStringSubmatch(text)
	if parts == nil {
		return 0
	}
	if parts[2] == "" {
		n, err := strconv.ParseInt(separators.ReplaceAllString(parts[1], ""), 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	exponent := map[string]string{"k": "e3", "m": "e6"}[strings.ToLower(parts[2])]
	n, err := strconv.ParseFloat(strings.ReplaceAll(parts[1], ",", ".")+exponent, 64)
	if err != nil || n > 1e15 {
		return 0
	}
	return int64(n)
}

// withoutCampaign returns the address of a product without the parameters that count campaigns; "" if it is no URL.
func withoutCampaign(address string) string {
	if !platform.IsURL(address) {
		return ""
	}
	return wire.WithoutParameters(address, func(parameter string) bool {
		return parameter == "" || strings.HasPrefix(parameter, "utm_")
	})
}

package capture

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/currency"

	"github.com/answerscope/answerscope/ingest/event"
	"github.com/answerscope/answerscope/ingest/platform"
	"github.com/answerscope/answerscope/ingest/platform/wire"
)

// sell adds the shopping cards of a list, which stand there or in groups, each once by its id. Positions count over all
// lists: where they begin anew, the highest before is added.
func (a *answer) sell(o wire.Object, path string) {
	a.list(o, path)
	offset := -1
	for _, card := range o.List(path) {
		if card["products"] != nil {
			a.sell(card, "products")
			continue
		}
		p, ok := product(card, a.request.Region)
		id := number(card, "id")
		switch {
		case !ok:
			a.PassOver("card without a title")
			continue
		case id != "" && slices.Contains(a.cards, id):
			continue
		case offset < 0:
			for _, earlier := range a.products {
				offset = max(offset, earlier.Position)
			}
			if p.Position > offset {
				offset = 0
			}
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
	p = event.Product{
		Title:       truncate(text(card, "title", "name"), event.MaxTitle),
		Brand:       truncate(text(card, "brand", "brandName", "offers.brand"), event.MaxName),
		PriceAmount: amount(pick(card, prices...)),
		URL:         withoutCampaign(text(card, "url", "link", "product_link", "productLink", "offers.url")),
		ImageURL: withoutCampaign(text(card,
			"image_url", "imageUrl", "thumbnail", "image_urls", "imageUrls", "images.url", "images")),
		ReviewCount: count(number(card,
			"rating.count", "rating.votes_count", "reviews", "num_reviews", "numReviews")),
	}
	merchant, _, _ := strings.Cut(text(card,
		"merchant", "merchants.name", "merchants", "seller", "source", "store", "offers.merchant"), " + ")
	p.Merchant = truncate(merchant, event.MaxName)
	if p.PriceAmount != "" {
		p.PriceCurrency = currencyOf(card, region)
	}
	if n, err := strconv.ParseFloat(number(card, "rating.value", "rating"), 64); err == nil && n >= 0 && n <= 1e6 {
		p.Rating = n
	}
	if n, err := strconv.ParseUint(number(card, "position"), 10, 31); err == nil {
		p.Position = int(n)
	}
	return p, p.Title != ""
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

// amount returns a price, a number or text, as a decimal number; "" if it is none. Of two separators in a text the last
// is the decimal one; a single one is decimal where one or two digits follow it.
func amount(price any) string {
	digits := fmt.Sprint(price)
	if written, isText := price.(string); isText {
		digits = amountForm.FindString(written)
		last := strings.LastIndexAny(digits, ".,")
		isDecimal := last >= 0 && strings.Count(digits, digits[last:last+1]) == 1 &&
			(len(digits)-last <= 3 || strings.ContainsAny(digits[:last], ".,"))
		if !isDecimal {
			last = len(digits)
		}
		digits = separators.ReplaceAllString(digits[:last], "") + strings.ReplaceAll(digits[last:], ",", ".")
	}
	if decimal, ok := event.Decimal(digits); ok && decimal[0] != '-' {
		return decimal
	}
	return ""
}

// currencySigns are signs and codes of currencies, the longer signs before those that they contain.
var currencySigns = [][2]string{
	{"US$", "USD"}, {"CA$", "CAD"}, {"C$", "CAD"}, {"A$", "AUD"}, {"AU$", "AUD"}, {"R$", "BRL"}, {"€", "EUR"},
	{"£", "GBP"}, {"₺", "TRY"}, {"₹", "INR"}, {"₩", "KRW"}, {"zł", "PLN"}, {"$", ""}, {"¥", ""},
}

// regionalSigns are the codes of signs that several currencies share, by sign and region.
var regionalSigns = map[string]string{
	"$us": "USD", "$ca": "CAD", "$au": "AUD", "$mx": "MXN", "¥jp": "JPY", "¥cn": "CNY",
}

var codeForm = regexp.MustCompile(`\b[A-Z]{3}\b`)

// currencyOf returns the ISO code of a card's currency: the code that it names, else by its sign; "" if it is unknown.
func currencyOf(card wire.Object, region string) string {
	var all strings.Builder
	fields := []string{"price.currency", "currency", "discountPrice.currency", "price.currencySymbol"}
	for _, path := range append(fields, prices...) {
		all.WriteString(text(card, path) + "\n")
	}
	for _, code := range codeForm.FindAllString(all.String(), -1) {
		if _, err := currency.ParseISO(code); err == nil {
			return code
		}
	}
	for _, sign := range currencySigns {
		if strings.Contains(all.String(), sign[0]) {
			return cmp.Or(sign[1], regionalSigns[sign[0]+strings.ToLower(region)])
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
	digits := separators.ReplaceAllString(parts[1], "")
	if exponent := map[string]string{"k": "e3", "m": "e6"}[strings.ToLower(parts[2])]; exponent != "" {
		digits = strings.ReplaceAll(parts[1], ",", ".") + exponent
	}
	n, err := strconv.ParseFloat(digits, 64)
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

package crash

import (
	"slices"

	"github.com/answerscope/answerscope/internal/system/run"
)

// tableCheck is a question to one table, and what it is to find of a brand when so many lines have been counted once.
type tableCheck struct {
	sql  string // brand, number
	want func(lines, b int) uint64
}

func everyLine(lines, _ int) uint64 { return uint64(lines) }

func everyVisit(lines, _ int) uint64 { return uint64(lines) * visitsALine }

func everyCrawl(lines, _ int) uint64 { return uint64(lines) * crawlsALine }

func ownPages(lines, b int) uint64 { return run.Count(lines, b, run.Cites) }

func rivalNames(lines, b int) uint64 { return run.Count(lines, run.RivalOf(b), run.Names) }

func rivalPages(lines, b int) uint64 { return run.Count(lines, run.RivalOf(b), run.Cites) }

func perBrand(what, from string) string {
	return "SELECT toString(brand_id), toUInt64(" + what + ") FROM " + from + " GROUP BY brand_id"
}

// tableChecks ask the landing table and the target of every view.
var tableChecks = slices.Concat(
	[]tableCheck{
		{perBrand("sum(sign)", "answers"), everyLine},
		{perBrand("uniqExact(id)", "answers"), everyLine},
		{perBrand("countIf(text != '')", "answers"), everyLine}, // first readings
		{perBrand("count()", "visits"), everyVisit},
		{perBrand("uniqExact(id)", "visits"), everyVisit},
		{perBrand("sum(visits)", "visit_daily"), everyVisit},
		{perBrand("count()", "crawls"), everyCrawl},
		{perBrand("uniqExact(id)", "crawls"), everyCrawl},
		{perBrand("sum(requests)", "crawl_daily"), everyCrawl},
		{perBrand("sum(sign)", "citations"), everyLine},
		{perBrand("uniqExact(answer_id)", "citations"), everyLine},
		{perBrand("sum(answers)", "citation_daily"), everyLine},
		{perBrand("sum(citations)", "citation_daily"), everyLine},
		{perBrand("sum(sign)", "shopping_cards"), everyLine},
		{perBrand("sum(mentions)", "entity_prompt_daily WHERE entity_id != brand_id"), rivalNames},
		{perBrand("sum(citations)", "entity_prompt_daily WHERE entity_id != brand_id"), rivalPages},
	},
	sums("answer_daily"), sums("entity_prompt_daily WHERE entity_id = brand_id"),
)

func sums(table string) []tableCheck {
	return []tableCheck{
		{perBrand("sum(runs)", table), everyLine},
		{perBrand("sum(answers)", table), everyLine},
		{perBrand("sum(mentions)", table), run.OwnNames},
		{perBrand("sum(mention_answers)", table), run.OwnNames},
		{perBrand("sum(citations)", table), ownPages},
	}
}

package notify

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/sql/postgres"
)

// The limits of Slack's messages, in characters, of which a text has no more than bytes.
const (
	maxHeader  = 150
	maxSection = 3000
	maxLines   = 20 // of 50 blocks
)

// A slackBlock is a block of Slack's Block Kit, which Mattermost and Rocket.Chat take too.
type slackBlock struct {
	Type string    `json:"type"` // header or section
	Text slackText `json:"text"`
}

type slackText struct {
	Type string `json:"type"` // plain_text or mrkdwn
	Text string `json:"text"`
}

// slackBody returns the message of an event: a header, a section for each line, and a link.
func slackBody(d postgres.Delivery, link string) []byte {
	headline, lines := describe(d.Type, d.Data)
	blocks := []slackBlock{{"header", slackText{"plain_text", slackEscaped(headline, maxHeader)}}}
	for _, line := range lines[:min(len(lines), maxLines)] {
		blocks = append(blocks, slackBlock{"section", slackText{"mrkdwn", slackEscaped(line, maxSection)}})
	}
	if link != "" {
		blocks = append(blocks, slackBlock{"section", slackText{"mrkdwn", "<" + link + "|Open the dashboard>"}})
	}
	text, _ := json.Marshal(struct { // cannot fail: it has strings alone
		Text   string       `json:"text"` // of the notification
		Blocks []slackBlock `json:"blocks"`
	}{slackEscaped(headline, maxSection), blocks})
	return text
}

// describe returns the headline of an event, and the lines below it.
func describe(event string, data []byte) (headline string, lines []string) {
	if content, err := feed.Read(event, data); err == nil {
		if moved, ok := content.(*feed.Moved); ok {
			for _, move := range moved.Moves {
				lines = append(lines, move.Sentence(moved.Brand))
			}
		}
		return content.Headline(), lines
	}
	var facts struct {
		Brand        feed.Brand              `json:"brand"`
		FailedReason string                  `json:"failed_reason"`
		Email        string                  `json:"email"`
		Key          struct{ Name string }   `json:"key"`
		Brief        struct{ Title string }  `json:"brief"`
		Suggestions  []struct{ Text string } `json:"suggestions"`
	}
	_ = json.Unmarshal(data, &facts) // a field that is absent says nothing
	for _, suggestion := range facts.Suggestions {
		lines = append(lines, suggestion.Text)
	}
	headline = strings.NewReplacer(".", " ", "_", " ").Replace(event)
	if facts.Brand.Name != "" {
		headline = facts.Brand.Name + ": " + headline
	}
	subject := cmp.Or(facts.Brief.Title, facts.Key.Name, facts.Email, facts.FailedReason)
	if subject != "" {
		headline += ": " + subject
	}
	return headline, lines
}

var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackEscaped escapes the beginning of a text, at most limit bytes of the result.
func slackEscaped(text string, limit int) string {
	var out strings.Builder
	for _, r := range text {
		escaped := slackEscapes.Replace(string(r))
		if out.Len()+len(escaped) > limit {
			break
		}
		out.WriteString(escaped)
	}
	return out.String()
}

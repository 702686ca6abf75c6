package topics

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

// BodyLimit is the limit of a request's body, in bytes.
const BodyLimit = 1 << 20

const (
	answerTimeout = 5 * time.Second
	maxPrompts    = 1000 // of a request
)

// Mount adds the proposals to a router: POST with {"brandId": …, "prompts": ["…"]} returns {"topics": ["…"]}, a topic
// for each prompt, "" for none. It changes nothing. The handlers before it find the caller.
func Mount(router fiber.Router, db *postgres.DB, before ...fiber.Handler) {
	var slots httpd.Slots
	router.Post("", append(before, httpd.Within(answerTimeout, func(c *fiber.Ctx) error {
		var body struct {
			BrandID uuid.UUID `json:"brandId"`
			Prompts []string  `json:"prompts"`
		}
		if json.Unmarshal(c.BodyRaw(), &body) != nil || len(body.Prompts) > maxPrompts {
			return problem.New(problem.Invalid,
				`want {"brandId": UUID of a brand, "prompts": [at most %d texts]}`, maxPrompts)
		}
		organization := identity.FromContext(c.UserContext()).OrganizationID
		release, err := slots.Acquire(c.UserContext(), organization)
		if err != nil {
			return problem.New(problem.TooMany, "your organization has too many requests under way; ask again")
		}
		defer release()
		brand, err := Read(c.UserContext(), db, organization, body.BrandID)
		if errors.Is(err, postgres.ErrNotFound) {
			return problem.New(problem.Missing, "no such brand")
		}
		if err != nil {
			return err
		}
		proposals, err := brand.Propose(c.UserContext(), body.Prompts)
		if errors.Is(err, context.DeadlineExceeded) {
			return problem.New(problem.Unprocessable,
				"these prompts and the brand's take too long together: send fewer")
		}
		if err != nil {
			return err
		}
		topics := make([]string, len(body.Prompts))
		for i, text := range body.Prompts {
			topics[i] = proposals[text]
		}
		return c.JSON(fiber.Map{"topics": topics})
	}))...)
}

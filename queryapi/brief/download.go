package brief

import (
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/httpd"
	"github.com/answerscope/answerscope/internal/identity"
	"github.com/answerscope/answerscope/internal/problem"
	"github.com/answerscope/answerscope/sql/postgres"
)

const answerTimeout = 5 * time.Second

// Mount adds GET /{id}.md, which downloads a brief of the caller's organization. The handlers before it find the
// caller.
func Mount(router fiber.Router, db *postgres.DB, before ...fiber.Handler) {
	router.Get("/:file", append(before, httpd.Within(answerTimeout, func(c *fiber.Ctx) error {
		text, isMarkdown := strings.CutSuffix(c.Params("file"), ".md")
		id, err := uuid.FromString(text)
		if err != nil || !isMarkdown {
			return problem.New(problem.Invalid,
				"want the id of a content brief and .md, such as %s.md", uuid.UUID{15: 1})
		}
		organization := identity.FromContext(c.UserContext()).OrganizationID
		brief, err := db.ContentBrief(c.UserContext(), organization, id)
		if errors.Is(err, postgres.ErrNotFound) {
			return problem.New(problem.Missing, "no such brief")
		}
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, "text/markdown; charset=utf-8")
		c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+brief.Slug+`.md"`)
		return c.SendString(brief.Body)
	}))...)
}

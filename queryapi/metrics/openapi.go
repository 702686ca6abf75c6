package metrics

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"
)

// descriptionPath is where description is, beside the endpoints.
const descriptionPath = "/openapi.json"

// description says in OpenAPI 3.1 what the endpoints take and answer. It is written by hand and sent as it is; what it
// says is held against the server by every test that asks one.
//
//go:embed openapi.json
var description []byte

func describe(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(description)
}

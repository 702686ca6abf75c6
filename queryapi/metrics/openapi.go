package metrics

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"
)

// descriptionPath is where description is, beside the endpoints.
const descriptionPath = "/openapi.json"

// description describes the endpoints in OpenAPI 3.1. It is written by hand and sent unchanged; tests compare every
// response with it.
//
//go:embed openapi.json
var description []byte

func describe(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(description)
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/answerscope/answerscope/internal/config"
	"github.com/answerscope/answerscope/queryapi/mcp"
)

// mcpCmd is the command mcp.
type mcpCmd struct {
	URL string `name:"url" required:"" placeholder:"URL" help:"{mcp_url}"`
}

func (c *mcpCmd) Run(ctx context.Context, p *process) error {
	switch {
	case !config.IsWeb(c.URL):
		return usageError{fmt.Errorf("--url is %q: want the address of an installation, such as "+
			"https://answers.example", c.URL)}
	case !p.Settings.Key.IsSet():
		return usageError{errors.New("ANSWERSCOPE_KEY is missing: want an API key of `answerscope key create`")}
	}
	return mcp.ServeStdio(ctx, c.URL, p.Settings.Key.Reveal(), io.NopCloser(p.stdin), stdout{p.stdout}, p.Log)
}

// stdout is not closed when the client has gone.
type stdout struct{ io.Writer }

func (stdout) Close() error { return nil }

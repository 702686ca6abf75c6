package cli

import (
	"cmp"
	"context"
	"os"
	osuser "os/user"
	"strings"
	"time"

	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/postgres"
)

// accessCmd shows the audit log.
type accessCmd struct {
	Limit int  `default:"100" placeholder:"N" help:"At most so many lines (default 100)."`
	JSON  bool `name:"json" help:"One JSON object a line."`
}

func (c *accessCmd) Run(ctx context.Context, p *process) error {
	return p.with(ctx, service.Control, func(ctx context.Context, on *engines) error {
		list, err := on.DB.AuditLog(ctx, c.Limit)
		if err != nil {
			return err
		}
		return printList(p, c.JSON, list, func(a postgres.AuditLine) string {
			return strings.Join([]string{a.At.Format(time.DateTime), a.Action, a.Organization, a.Subject, a.Actor, a.Address}, "\t")
		}, "AT", "ACTION", "ORGANIZATION", "SUBJECT", "BY", "ADDRESS")
	})
}

// actor is who runs a command and from where, for the audit log: as root, who became root; over SSH, its client.
func actor(command string) string {
	name := os.Getenv("SUDO_USER")
	if current, err := osuser.Current(); err == nil {
		name = cmp.Or(name, current.Username)
	}
	host, _ := os.Hostname() // "" is as much as is known
	text := name + "@" + host
	if client, _, _ := strings.Cut(os.Getenv("SSH_CONNECTION"), " "); client != "" {
		text += " from " + client
	}
	return text + ": answerscope " + command
}

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/pipeline/notify/feed"
	"github.com/answerscope/answerscope/pipeline/notify/mail"
	"github.com/answerscope/answerscope/sql/postgres"
)

type mailCmd struct {
	Test mailTest `cmd:"" help:"Send a test mail, and show the relay's answer."`
}

type mailTest struct {
	Address string `arg:"" help:"Who gets it."`
}

func (c *mailTest) Run(ctx context.Context, p *process) error {
	if err := p.Settings.Validate(); err != nil {
		return err
	}
	if !p.Settings.Mail.IsSet() {
		return errors.New("want ANSWERSCOPE_SMTP_URL, ANSWERSCOPE_MAIL_FROM and ANSWERSCOPE_PUBLIC_URL (docs/mail.md)")
	}
	sender, err := mail.New(p.Settings.Mail, p.Settings.PublicURL, secret.Ring{})
	if err != nil {
		return err
	}
	reply, err := sender.Hand(ctx, postgres.Mail{
		ID: uuid.Must(uuid.NewV4()), Recipient: c.Address, Template: feed.TestMail, Data: []byte("{}")})
	if err != nil {
		return err
	}
	return p.print(fmt.Sprintf("%d %s", reply.Code, reply.Text))
}

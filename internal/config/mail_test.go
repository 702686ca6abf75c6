package config

import (
	"strings"
	"testing"
)

func TestARelayIsReadFromItsAddress(t *testing.T) {
	for address, want := range map[string]Relay{
		"smtp://ann:" + hidden + "@smtp.example:587": {Host: "smtp.example", Port: 587, User: "ann", Password: hidden},
		"smtp://smtp.example":                        {Host: "smtp.example", Port: 587},
		"smtps://a%40b:p%2Fw@smtp.example": {Host: "smtp.example", Port: 465, User: "a@b",
			Password: "p/w", TLS: true},
		"smtp://relay.internal:25?starttls=off": {Host: "relay.internal", Port: 25, Plain: true},
		"smtp://ann:" + hidden + "@[::1]:2525":  {Host: "::1", Port: 2525, User: "ann", Password: hidden, Plain: true},
		"smtps://localhost:465":                 {Host: "localhost", Port: 465, TLS: true},
	} {
		if got, err := (Mail{URL: NewDSN(address)}).Relay(); err != nil || got != want {
			t.Errorf("%s: %+v, %v", address, got, err)
		}
	}
	for _, address := range []string{
		"smtp.example:587", "http://smtp.example", "smtp://", "smtp://smtp.example:0", "smtp://smtp.example:70000",
		"smtp://smtp.example:x",
		"smtp://smtp.example/path", "smtp://smtp.example#a", "smtp://smtp.example?starttls=on",
		"smtp://smtp.example?starttls=off&a=b",
		"smtps://smtp.example?starttls=off", "smtp://ann@smtp.example", "smtp://:" + hidden + "@smtp.example",
		"smtp://ann:" + hidden + "@smtp.example?starttls=off", // the password would be read on the way
	} {
		if got, err := (Mail{URL: NewDSN(address)}).Relay(); err == nil {
			t.Errorf("%s: %+v", address, got)
		}
	}
}

func TestMailBesideAnOutsideDatabaseNeedsKeys(t *testing.T) {
	s := Settings{Outside: FromEnvironment(
		[]string{
			"ANSWERSCOPE_SMTP_URL=smtp://smtp.example:587",
			"ANSWERSCOPE_POSTGRES_DSN=postgres://db.example/answerscope",
		})}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "ANSWERSCOPE_SECRET_KEYS") {
		t.Errorf("without keys: %v", err)
	}
	s.SecretKeys = NewSecret("k1:" + strings.Repeat("A", 43) + "=")
	if err := s.Validate(); err != nil && strings.Contains(err.Error(), "ANSWERSCOPE_SECRET_KEYS") {
		t.Errorf("with keys: %v", err)
	}
}

func TestMailNeedsARelayASenderAndAPublicURL(t *testing.T) {
	const relay, sender, public = "smtp://ann:" + hidden + "@smtp.example:587", "answerscope <alerts@answers.example>",
		"https://answers.example"
	for _, c := range []struct{ relay, sender, public, wrong string }{
		{"", "", "", ""},
		{"", "", public, ""},
		{relay, sender, public, ""},
		{relay, "alerts@answers.example", "http://127.0.0.1:8080", ""},
		{"", sender, public, "SMTP_URL"},
		{relay, "", public, "MAIL_FROM"},
		{relay, "nobody", public, "MAIL_FROM"},
		{relay, "a@answers.example, b@answers.example", public, "MAIL_FROM"},
		{relay, "a@answers.example\r\nBcc: b@answers.example", public, "MAIL_FROM"},
		{relay, sender, "", "PUBLIC_URL"},
		{relay, sender, "http://answers.example", "PUBLIC_URL"},
		{"smtp://ann:" + hidden + "@smtp.example:x", sender, public, "SMTP_URL"},
		{"imap://ann:" + hidden + "@smtp.example", sender, public, "SMTP_URL"},
	} {
		var m mistakes
		outside := FromEnvironment([]string{"ANSWERSCOPE_SMTP_URL=" + c.relay, "ANSWERSCOPE_MAIL_FROM=" + c.sender})
		outside.Mail.validate(&m, c.public)
		if (len(m) == 0) != (c.wrong == "") || len(m) > 0 &&
			!strings.HasPrefix(m[0].Error(), "ANSWERSCOPE_"+c.wrong+" is ") {
			t.Errorf("%+v: %v", c, m)
		}
		for _, err := range m {
			if strings.Contains(err.Error(), hidden) {
				t.Errorf("%v shows the password", err)
			}
		}
	}
}

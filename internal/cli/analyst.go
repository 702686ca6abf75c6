package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/password"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/sql/clickhouse"
	"github.com/answerscope/answerscope/sql/clickhouse/schema"
)

type analystCmd struct {
	Add    analystAdd    `cmd:"" help:"Give a person access by SQL; prints a login and a password, once."`
	List   analystList   `cmd:"" help:"List analysts."`
	Remove analystRemove `cmd:"" help:"Remove an analyst's access, at once."`
}

// usersDirFlag is where the server reads users, for a ClickHouse that is not embedded.
type usersDirFlag struct {
	UsersDir string `placeholder:"DIR" help:"Directory users.d of a ClickHouse that is not embedded, as it is seen from here."`
}

// usersDir is where the server reads users; "" when that is not known.
func (p *process) usersDir(given usersDirFlag) string {
	if given.UsersDir == "" && !p.Settings.HasWarehouse() {
		return engine.ClickHouseUsersDir(p.Settings.DataDir)
	}
	return given.UsersDir
}

// errNoUsersDir says that a directory is needed.
var errNoUsersDir = usageError{errors.New("ClickHouse is not embedded: say with --users-dir where its users.d is, or take the file there by hand")}

type analystAdd struct {
	Name string `arg:"" help:"What to call them within the organization: a–z, 0–9 and hyphens."`
	Org  string `required:"" placeholder:"SLUG" help:"Whose rows they see."`
	JSON bool   `name:"json" help:"One JSON document."`
	usersDirFlag
}

// analystPassword is the fewest characters of a password of one's own: ClickHouse takes no salt in a file of users.
const analystPassword = 16

func (c *analystAdd) Run(ctx context.Context, p *process) error {
	given, err := readPassword(p, analystPassword, c.Name, c.Org)
	if err != nil {
		return err
	}
	chosen := cmp.Or(given, password.Generate())
	return p.with(ctx, service.Databases, func(ctx context.Context, on *engines) error {
		a, err := c.analyst(ctx, on, chosen)
		if err != nil {
			return err
		}
		added := shownAnalyst(a)
		if given == "" {
			added.Password = chosen
		}
		dir := p.usersDir(c.usersDirFlag)
		if dir == "" {
			return errors.Join(on.logAnalyst(ctx, "analyst file printed", a), c.printFile(p, a, added))
		}
		if err := schema.GrantLogin(ctx, on.ClickHouse, dir, a, chosen); err != nil {
			return err
		}
		if err := on.logAnalyst(ctx, "analyst added", a); err != nil {
			return err
		}
		line := added.Login
		if added.Password != "" {
			line += "\npassword " + added.Password
		}
		if err := p.printResult(c.JSON, added, line); err != nil {
			return err
		}
		on.explainLogin(added)
		return nil
	})
}

// analyst is who is to be added.
func (c *analystAdd) analyst(ctx context.Context, on *engines, chosen string) (schema.Analyst, error) {
	organization, err := on.organization(ctx, c.Org)
	if err != nil {
		return schema.Analyst{}, err
	}
	a := schema.Analyst{
		Name: c.Name, Organization: organization.Slug, OrganizationID: clickhouse.UUID(organization.ID),
		Database: on.ClickHouse.Database(), PasswordSCRAM: schema.PasswordSCRAM(chosen), Since: time.Now().UTC().Truncate(time.Second),
		Sharded: on.ClickHouse.Shards != "",
	}
	if err := a.Validate(); err != nil {
		return a, usageError{err}
	}
	return a, nil
}

// printFile prints the file, for the operator of the server to put in place.
func (c *analystAdd) printFile(p *process, a schema.Analyst, added analystShown) error {
	text, err := a.Configuration()
	if err != nil {
		return err
	}
	if c.JSON {
		added.Configuration = string(text)
		return p.printJSON(added)
	}
	if err := p.print(strings.TrimSuffix(string(text), "\n")); err != nil {
		return err
	}
	where := "users.d of ClickHouse"
	if a.Sharded {
		where = "users.d of every server of the cluster"
	}
	p.say("put this file into %s, as %s.xml: the server reads it by itself", where, a.Login())
	if added.Password != "" {
		p.say("login %s, password %s", a.Login(), added.Password)
	}
	return nil
}

// explainLogin says how the analyst connects.
func (e *engines) explainLogin(added analystShown) {
	secret := cmp.Or(added.Password, "PASSWORD")
	e.Say("connect with %s", schema.AddressFor(e.ClickHouse, added.Login, secret))
	if e.ClickHouse.Shards != "" {
		e.Say("every other server of the cluster wants the file too, before it answers a question")
	}
	if e.Running == nil || e.Settings.HasWarehouse() {
		return
	}
	e.Say("or ask      curl -u '%s:%s' 'http://%s/?database=%s' --data-binary '%s'",
		added.Login, secret, e.Running.ClickHouseHTTP(), e.ClickHouse.Database(), firstQuestion)
}

// firstQuestion is a query whose figures are those of the API: the answers of each platform, without runs that were
// given up.
const firstQuestion = "SELECT platform, sum(answers) AS answers FROM answer_daily GROUP BY platform ORDER BY platform"

// analystShown is an analyst as printed; what is secret is shown once, when they are added.
type analystShown struct {
	Login          string    `json:"login"`
	Name           string    `json:"name"`
	Organization   string    `json:"organization"`
	OrganizationID string    `json:"organization_id"`
	Since          time.Time `json:"since"`
	Password       string    `json:"password,omitempty"`
	Configuration  string    `json:"configuration,omitempty"`
}

func shownAnalyst(a schema.Analyst) analystShown {
	return analystShown{Login: a.Login(), Name: a.Name, Organization: a.Organization, OrganizationID: a.OrganizationID.String(), Since: a.Since}
}

type analystList struct {
	JSON bool `name:"json" help:"One JSON object a line."`
	usersDirFlag
}

func (c *analystList) Run(p *process) error {
	if err := p.Settings.Validate(); err != nil {
		return usageError{err}
	}
	dir := p.usersDir(c.usersDirFlag)
	if dir == "" {
		return errNoUsersDir
	}
	list, err := schema.ListAnalysts(dir)
	if err != nil {
		return err
	}
	var shown []analystShown
	for _, a := range list {
		shown = append(shown, shownAnalyst(a))
	}
	return printList(p, c.JSON, shown, func(a analystShown) string {
		return a.Name + "\t" + a.Organization + "\t" + a.Login + "\tsince " + a.Since.Format(time.DateOnly)
	})
}

type analystRemove struct {
	Name string `arg:"" help:"As analyst list prints it."`
	Org  string `required:"" placeholder:"SLUG" help:"Their organization, as analyst list prints it."`
	usersDirFlag
}

func (c *analystRemove) Run(ctx context.Context, p *process) error {
	dir := p.usersDir(c.usersDirFlag)
	if dir == "" {
		return errNoUsersDir
	}
	return p.with(ctx, service.Databases, func(ctx context.Context, on *engines) error {
		removed, err := schema.RevokeLogin(ctx, on.Warehouse, dir, c.Org, c.Name)
		if err != nil {
			return err
		}
		return on.logAnalyst(ctx, "analyst removed", removed)
	})
}

// logAnalyst adds a change of an analyst's access to the audit log.
func (e *engines) logAnalyst(ctx context.Context, change string, a schema.Analyst) error {
	return e.DB.LogAudit(ctx, change, uuid.UUID(a.OrganizationID), a.Login())
}

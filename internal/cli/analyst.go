package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/service"
	"github.com/answerscope/answerscope/queryapi/auth"
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
	UsersDir string `placeholder:"DIR" help:"{analyst_users_dir}"`
}

// usersDir is where the server reads users; "" when that is not known.
func (f usersDirFlag) usersDir(p *process) string {
	if f.UsersDir == "" && !p.Settings.HasWarehouse() {
		return engine.ClickHouseUsersDir(p.Settings.DataDir)
	}
	return f.UsersDir
}

// errNoUsersDir is the error of a command that needs a directory.
var errNoUsersDir = usageError{errors.New("ClickHouse is not embedded: " +
	"say with --users-dir where its users.d is, or take the file there by hand")}

type analystAdd struct {
	Name string `arg:"" help:"What to call them within the organization: a–z, 0–9 and hyphens."`
	Org  string `required:"" placeholder:"SLUG" help:"Whose rows they see."`
	JSON bool   `name:"json" help:"One JSON document."`
	usersDirFlag
}

// minAnalystPassword is the fewest characters of a chosen password: ClickHouse takes no salt in a file of users.
const minAnalystPassword = 16

func (c *analystAdd) Run(ctx context.Context, p *process) error {
	chosen, err := p.readPassword(ctx, minAnalystPassword, c.Name, c.Org)
	if err != nil {
		return err
	}
	text := cmp.Or(chosen, auth.GeneratePassword())
	on, err := p.connect(ctx, service.Databases)
	if err != nil {
		return err
	}
	a, err := c.analyst(ctx, on, text)
	if err != nil {
		return err
	}
	added := listAnalyst(a)
	if chosen == "" {
		added.Password = text
	}
	dir := c.usersDir(p)
	if dir == "" {
		return errors.Join(logAnalyst(ctx, on, "analyst file printed", a), c.printFile(p, a, added))
	}
	if err := schema.GrantLogin(ctx, on.ClickHouse, dir, a, text); err != nil {
		return err
	}
	if err := logAnalyst(ctx, on, "analyst added", a); err != nil {
		return err
	}
	line := added.Login
	if added.Password != "" {
		line += "\npassword " + added.Password
	}
	if err := p.printResult(c.JSON, added, line); err != nil {
		return err
	}
	p.explainLogin(on, added)
	return nil
}

// analyst makes the analyst with their password.
func (c *analystAdd) analyst(ctx context.Context, on *service.Engines, text string) (schema.Analyst, error) {
	organization, err := findOrganization(ctx, on.DB, c.Org)
	if err != nil {
		return schema.Analyst{}, err
	}
	a := schema.Analyst{
		Name: c.Name, Organization: organization.Slug, OrganizationID: clickhouse.UUID(organization.ID),
		Database: on.ClickHouse.Database(), PasswordSCRAM: schema.PasswordSCRAM(text),
		Since:   time.Now().UTC().Truncate(time.Second),
		Sharded: on.ClickHouse.Shards != "",
	}
	if err := a.Validate(); err != nil {
		return a, usageError{err}
	}
	return a, nil
}

// printFile prints the file, for the operator of the server to put in place.
func (c *analystAdd) printFile(p *process, a schema.Analyst, added listedAnalyst) error {
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

// explainLogin prints how the analyst connects.
func (p *process) explainLogin(on *service.Engines, added listedAnalyst) {
	secret := cmp.Or(added.Password, "PASSWORD")
	p.say("connect with %s", schema.AddressFor(on.ClickHouse, added.Login, secret))
	if on.ClickHouse.Shards != "" {
		p.say("every other server of the cluster wants the file too, before it answers a question")
	}
	if on.Running == nil || p.Settings.HasWarehouse() {
		return
	}
	p.say("or ask      curl -u '%s:%s' 'http://%s/?database=%s' --data-binary '%s'",
		added.Login, secret, on.Running.ClickHouseHTTP, on.ClickHouse.Database(), firstQuestion)
}

// firstQuestion counts the answers of each platform as the API does, without runs that were given up.
const firstQuestion = "SELECT platform, sum(answers) AS answers FROM answer_daily GROUP BY platform ORDER BY platform"

// listedAnalyst is an analyst as printed; secrets are printed once, when the analyst is added.
type listedAnalyst struct {
	Login          string    `json:"login"`
	Name           string    `json:"name"`
	Organization   string    `json:"organization"`
	OrganizationID string    `json:"organization_id"`
	Since          time.Time `json:"since"`
	Password       string    `json:"password,omitempty"`
	Configuration  string    `json:"configuration,omitempty"`
}

func listAnalyst(a schema.Analyst) listedAnalyst {
	return listedAnalyst{
		Login: a.Login(), Name: a.Name, Organization: a.Organization, OrganizationID: a.OrganizationID.String(),
		Since: a.Since,
	}
}

type analystList struct {
	JSON bool `name:"json" help:"One JSON object a line."`
	usersDirFlag
}

func (c *analystList) Run(p *process) error {
	if err := p.Settings.Validate(); err != nil {
		return usageError{err}
	}
	dir := c.usersDir(p)
	if dir == "" {
		return errNoUsersDir
	}
	analysts, err := schema.ListAnalysts(dir)
	if err != nil {
		return err
	}
	var list []listedAnalyst
	for _, a := range analysts {
		list = append(list, listAnalyst(a))
	}
	return printList(p, c.JSON, list, func(a listedAnalyst) string {
		return a.Name + "\t" + a.Organization + "\t" + a.Login + "\tsince " + a.Since.Format(time.DateOnly)
	})
}

type analystRemove struct {
	Name string `arg:"" help:"As analyst list prints it."`
	Org  string `required:"" placeholder:"SLUG" help:"Their organization, as analyst list prints it."`
	usersDirFlag
}

func (c *analystRemove) Run(ctx context.Context, p *process) error {
	dir := c.usersDir(p)
	if dir == "" {
		return errNoUsersDir
	}
	on, err := p.connect(ctx, service.Databases)
	if err != nil {
		return err
	}
	removed, err := schema.RevokeLogin(ctx, on.Warehouse, dir, c.Org, c.Name)
	if err != nil {
		return err
	}
	return logAnalyst(ctx, on, "analyst removed", removed)
}

// logAnalyst adds a change of an analyst's access to the audit log.
func logAnalyst(ctx context.Context, on *service.Engines, change string, a schema.Analyst) error {
	return on.DB.LogAudit(ctx, change, uuid.UUID(a.OrganizationID), a.Login())
}

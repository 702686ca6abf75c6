package engine

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed clickhouse/config.xml
var clickHouseConfigXML string

//go:embed clickhouse/users.xml
var clickHouseUsersXML string

var (
	clickHouseConfigTemplate = template.Must(template.New("config.xml").Parse(clickHouseConfigXML))
	clickHouseUsersTemplate  = template.Must(template.New("users.xml").Parse(clickHouseUsersXML))
)

// writeClickHouseConfig writes config.xml and users.xml into cfg.Dir, replacing
// what an earlier release wrote, and returns the path of the first. Files that
// others put into config.d and users.d beside them are left alone and included.
func writeClickHouseConfig(cfg ClickHouseConfig, password string) (string, error) {
	values := struct {
		Dir, Logs, User, PasswordSHA256 string
		Sync                            bool
	}{cfg.Dir, cfg.Logs, clickHouseUser, fmt.Sprintf("%x", sha256.Sum256([]byte(password))), !cfg.NoSync}
	for _, t := range []*template.Template{clickHouseConfigTemplate, clickHouseUsersTemplate} {
		var text bytes.Buffer
		if err := t.Execute(&text, values); err != nil {
			return "", err
		}
		if err := replaceFile(filepath.Join(cfg.Dir, t.Name()), text.Bytes(), 0o600); err != nil {
			return "", err
		}
	}
	for _, d := range []string{filepath.Join(cfg.Dir, "config.d"), usersDir(cfg.Dir), filepath.Join(cfg.Dir, "data")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return "", err
		}
	}
	return filepath.Join(cfg.Dir, "config.xml"), nil
}

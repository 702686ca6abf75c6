package engine

import (
	"bytes"
	_ "embed"
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
		Dir, User, Password string
		Sync                bool
	}{cfg.Dir, clickHouseUser, password, !cfg.NoSync}
	for _, f := range []struct {
		t    *template.Template
		mode os.FileMode
	}{
		{clickHouseConfigTemplate, 0o600},
		{clickHouseUsersTemplate, 0o600},
	} {
		var text bytes.Buffer
		if err := f.t.Execute(&text, values); err != nil {
			return "", err
		}
		if err := replaceFile(filepath.Join(cfg.Dir, f.t.Name()), text.Bytes(), f.mode); err != nil {
			return "", err
		}
	}
	for _, d := range []string{"config.d", "users.d", "data"} {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, d), 0o700); err != nil {
			return "", err
		}
	}
	return filepath.Join(cfg.Dir, "config.xml"), nil
}

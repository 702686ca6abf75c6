package collector

import (
	"time"

	"github.com/answerscope/answerscope/internal/httpd"
)

// Listener is for many small requests of strangers: none of them may be large, or slow.
func Listener() httpd.Config {
	cfg := httpd.DefaultConfig()
	cfg.Name = "collector"
	cfg.WriteTimeout = 15 * time.Second
	cfg.BodyLimit = 64 << 10   // what is larger than a beacon may be is still told so, up to here
	cfg.HeaderLimit = 16 << 10 // a connection holds as much
	return cfg
}

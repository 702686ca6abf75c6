package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
)

// versionCmd prints which build this is.
type versionCmd struct {
	JSON bool `name:"json" help:"One JSON document."`
}

func (c *versionCmd) Run(p *process) error {
	b := thisBuild()
	return p.printResult(c.JSON, b, b.String())
}

// build is what Go stamps into the binary: of a release its tag, else a version made of the commit and its time.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // the commit; "" when it was built without its repository
	Go       string `json:"go"`
	Platform string `json:"platform"` // such as linux/amd64
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

func (b build) String() string {
	return fmt.Sprintf("answerscope %s %s %s", b.Version, b.Go, b.Platform)
}

// metric is always 1, with the build in its labels.
func (b build) metric() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "answerscope_build_info", Help: "1, with the build in the labels.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "go": b.Go},
	}, func() float64 { return 1 })
}

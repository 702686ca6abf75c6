// Command sbom writes a CycloneDX bill of materials: the Go modules that are linked into a binary, as it says itself,
// and the packages of the engines' lock file.
//
//	go run ./deploy/sbom bin/answerscope deploy/engine/package-lock.json > sbom.cdx.json
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY PACKAGE-LOCK")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(out io.Writer, binary, lock string) error {
	build, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read what %s is made of: %w", binary, err)
	}
	components := []cyclonedx.Component{module("std", strings.TrimPrefix(build.GoVersion, "go"))}
	for _, linked := range build.Deps {
		if linked.Replace != nil {
			linked = linked.Replace
		}
		components = append(components, module(linked.Path, linked.Version))
	}
	engines, err := packages(lock)
	if err != nil {
		return err
	}
	components = append(components, engines...)
	bom := cyclonedx.NewBOM()
	product := module(build.Main.Path, build.Main.Version)
	product.Type = cyclonedx.ComponentTypeApplication
	bom.Metadata, bom.Components = &cyclonedx.Metadata{Component: &product}, &components
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func module(path, version string) cyclonedx.Component {
	return component("golang", path, version)
}

func component(kind, name, version string) cyclonedx.Component {
	url := fmt.Sprintf("pkg:%s/%s@%s", kind, strings.ReplaceAll(name, "@", "%40"), version)
	return cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, BOMRef: url, Name: name, Version: version, PackageURL: url}
}

// packages are those of a package-lock.json, of every platform.
func packages(lock string) ([]cyclonedx.Component, error) {
	text, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	var file struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", lock, err)
	}
	var all []cyclonedx.Component
	for at, p := range file.Packages {
		if _, name, ok := strings.Cut(at, "node_modules/"); ok {
			all = append(all, component("npm", name, p.Version))
		}
	}
	slices.SortFunc(all, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	return all, nil
}

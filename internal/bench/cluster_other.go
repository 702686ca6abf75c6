//go:build !linux

package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/answerscope/answerscope/deploy/engine"
)

// runChild runs the hidden subcommand of this process, if it has one, and then does not return.
func runChild() { engine.Main() }

var errNotLinux = errors.New("hosts of a cluster are network namespaces, which Linux has")

func measureCluster(context.Context, Options, *stack, *Result) error { return errNotLinux }

func runLeg(context.Context, *json.Decoder) (any, error) { return nil, errNotLinux }

// Command serve runs a command, such as `go test ./...`, whose tests share one set of engines:
//
//	go run ./internal/testkit/serve go test ./...
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/answerscope/answerscope/deploy/engine"
	"github.com/answerscope/answerscope/internal/testkit"
)

func main() {
	engine.Main()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: serve COMMAND ARG…")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status, err := testkit.Serve(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

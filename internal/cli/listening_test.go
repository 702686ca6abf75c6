package cli

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestATakenDefaultAdminPortGivesWay(t *testing.T) {
	if taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", defaultAdmin); err == nil {
		defer taken.Close() // else another process has it, which will do
	}
	p := &process{stderr: io.Discard, log: slog.New(slog.DiscardHandler)}
	given, err := adminFlags{Admin: defaultAdmin}.operator(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	if _, err := (adminFlags{Admin: given.Addr().String()}).operator(t.Context(), p); err == nil || !strings.Contains(err.Error(), "--admin") {
		t.Errorf("a chosen admin address that is taken: %v", err)
	}
}

package service

import (
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestATakenDefaultAdminPortGivesWay(t *testing.T) {
	if taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", DefaultAdmin); err == nil {
		defer taken.Close() // else another process has it, which will do
	}
	log := slog.New(slog.DiscardHandler)
	fallback, err := Listeners{Admin: DefaultAdmin}.admin(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer fallback.Close()
	if _, err := (Listeners{Admin: fallback.Addr().String()}).admin(t.Context(), log); err == nil ||
		!strings.Contains(err.Error(), "--admin") {
		t.Errorf("a chosen admin address that is taken: %v", err)
	}
}

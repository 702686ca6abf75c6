package spool

import (
	"log/slog"
	"strings"
	"testing"
)

// BenchmarkOpen is what a start waits for: every entry that a predecessor left is read, and its checksum compared.
func BenchmarkOpen(b *testing.B) {
	const total = 128 << 20
	dir := b.TempDir()
	cfg := Config{Dir: dir, SegmentBytes: 16 << 20}
	s, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	body := strings.Repeat("a visit ", 5000)
	for s.Used() < total {
		put(b, s, 1, body, false)
	}
	b.SetBytes(s.Used())
	for b.Loop() {
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if s, err = Open(cfg, slog.New(slog.DiscardHandler)); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

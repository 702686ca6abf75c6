package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
)

// Site is a brand with the hosts that are its own, in lower case and punycode.
type Site struct {
	BrandID        uuid.UUID `db:"brand_id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Domains        []string  `db:"domains"` // in the order of their bytes
}

// Sites reads the brands and their domains, and is notified when they change.
type Sites struct{ *listener }

// OpenSites connects; every change from then on ends a Wait. Each statement must be answered within timeout, and Read
// within ten times of it.
func (db *DB) OpenSites(ctx context.Context, timeout time.Duration) (*Sites, error) {
	l, err := db.openListener(ctx, timeout)
	if err != nil {
		return nil, fmt.Errorf("open sites: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := exec(ctx, l.conn, "listen_sites"); err != nil {
		return nil, errors.Join(fmt.Errorf("open sites: %w", err), l.Close())
	}
	return &Sites{l}, nil
}

// Version is another text after any change, notified or not; it costs one look at each brand. What is read after
// Version is never older than it.
func (s *Sites) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return queryOne[string](ctx, s.conn, "sites_version")
}

// Read returns every brand, also those without a domain, in the order of ids.
func (s *Sites) Read(ctx context.Context) ([]Site, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*s.timeout)
	defer cancel()
	return queryAll[Site](ctx, s.conn, "sites")
}

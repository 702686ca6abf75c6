package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/jackc/pgx/v5"
)

// Site is a brand with the hosts that are its own, in lower case and punycode.
type Site struct {
	BrandID        uuid.UUID `db:"brand_id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Domains        []string  `db:"domains"` // in the order of their bytes
}

// siteVersion is another one after any change.
type siteVersion struct {
	Version string `db:"version"`
}

var (
	listenSites  = query[struct{}, none]("listen_sites")
	sites        = query[struct{}, Site]("sites")
	sitesVersion = query[struct{}, siteVersion]("sites_version")
)

// Sites reads the brands and their domains on a connection of its own, which is told
// when they change. It is not safe for concurrent use. When ctx ends, all but Wait
// close the connection.
type Sites struct{ conn *pgx.Conn }

// OpenSites connects; every change from then on ends a Wait.
func (db *DB) OpenSites(ctx context.Context) (*Sites, error) {
	cfg := db.Config()
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("open sites: %w", err)
	}
	s := &Sites{conn}
	if err = cfg.AfterConnect(ctx, conn); err == nil {
		_, err = listenSites.run(ctx, conn, struct{}{})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open sites: %w", err), s.Close())
	}
	return s, nil
}

// Version is another text after any change, however it came about; it costs one
// look at each brand. Read after Version is never older than it.
func (s *Sites) Version(ctx context.Context) (string, error) {
	v, err := sitesVersion.one(ctx, s.conn, struct{}{})
	return v.Version, err
}

// Read returns every brand, also those without a domain, in the order of ids.
func (s *Sites) Read(ctx context.Context) ([]Site, error) {
	return sites.all(ctx, s.conn, struct{}{})
}

// Wait returns when there may be a change that was not there when Wait was last
// called, or ctx ends; an ended ctx leaves the connection open. Of many changes that
// have been told it returns once.
func (s *Sites) Wait(ctx context.Context) error {
	if _, err := s.conn.WaitForNotification(ctx); err != nil {
		return fmt.Errorf("wait for sites: %w", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	for {
		if _, err := s.conn.WaitForNotification(ended); err != nil {
			return nil //nolint:nilerr // none is left that has come: with an ended ctx it waits for no other
		}
	}
}

// Close closes the connection.
func (s *Sites) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.conn.Close(ctx)
}

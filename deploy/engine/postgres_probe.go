package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// pingPostgres returns nil when a server asks for a password, which it does once it is
// ready for queries. It sends the startup message of PostgreSQL's frontend/backend
// protocol 3.0, so that no driver is needed here.
func pingPostgres(ctx context.Context, address string) error {
	var dial net.Dialer
	conn, err := dial.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	body := []byte{0, 3, 0, 0}
	for _, s := range []string{"user", postgresUser, "database", Database, ""} {
		body = append(append(body, s...), 0)
	}
	message := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...)
	if _, err := conn.Write(message); err != nil {
		return err
	}
	var kind [1]byte
	if _, err := io.ReadFull(conn, kind[:]); err != nil {
		return err
	}
	switch kind[0] {
	case 'R': // AuthenticationSASL
		return nil
	case 'E':
		return errors.New("still starting up")
	default:
		return fmt.Errorf("answered %q, which is not PostgreSQL", kind[0])
	}
}

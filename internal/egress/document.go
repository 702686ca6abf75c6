package egress

import (
	"context"
	"io"
	"net/http"
	"time"
)

const (
	maxDocument     = 64 << 10
	documentTimeout = 5 * time.Second
)

// Document fetches a document of at most 64 KB from an address over TLS. The error is a problem of kind Unprocessable
// with the reason, or of kind Invalid for an address that is never asked.
func (c *Client) Document(ctx context.Context, address string) ([]byte, error) {
	if _, err := c.CheckURL(address); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, unusable("%.300q is no address", address)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", userAgent)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, unusable("%.300s cannot be fetched (%s)", address, Reason(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK { // a redirect too
		return nil, unusable("%.300s responds with status %d", address, response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, unusable("%.300s cannot be read (%s)", address, Reason(err))
	case len(body) > maxDocument:
		return nil, unusable("%.300s has more than %d bytes", address, maxDocument)
	}
	return body, nil
}

package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/answerscope/answerscope/internal/egress"
	"github.com/answerscope/answerscope/internal/lifecycle"
	"github.com/answerscope/answerscope/internal/secret"
	"github.com/answerscope/answerscope/sql/postgres"
)

const (
	sendTimeout = 15 * time.Second // of an attempt, from the look-up of the name to the end of the response
	maxExcerpt  = 512              // bytes
)

// A Sender sends deliveries to endpoints. It is safe for concurrent use.
type Sender struct {
	Client    *egress.Client
	Ring      secret.Ring
	PublicURL string // of the dashboard; "": messages have no link
	Version   string // of this build
}

// Send makes one attempt to send a delivery.
func (s *Sender) Send(ctx context.Context, d postgres.Delivery) postgres.Outcome {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	request, err := s.request(ctx, d, time.Now())
	if err != nil {
		return postgres.Outcome{Error: err.Error()}
	}
	response, err := s.Client.Do(request)
	end := postgres.Outcome{Code: response.Status}
	if !response.IsOpen { // the admins of any organization may send there
		end.Excerpt = string(response.Body[:min(len(response.Body), maxExcerpt)])
	}
	switch success := response.Status/100 == 2; {
	case err != nil && (success || response.Status == 0):
		end.Error = egress.Reason(err)
	case !success:
		end.Error = fmt.Sprintf("status %d", response.Status)
		end.Final = response.Status == http.StatusGone
		end.RetryAfter = lifecycle.RetryAfter(response.Header.Get("Retry-After"), time.Now())
	}
	return end
}

func (s *Sender) request(ctx context.Context, d postgres.Delivery, at time.Time) (*http.Request, error) {
	secrets, err := s.open(d)
	if err != nil {
		return nil, err
	}
	target, body := d.URL, s.body(d)
	if d.Kind == postgres.KindSlack {
		target, body = secrets[0], slackBody(d, s.link(d))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL cannot be read: remove the endpoint and add it anew")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "answerscope/"+s.Version)
	if d.Kind == postgres.KindSlack {
		return request, nil
	}
	return request, sign(request.Header, d.EventID.String(), at, body, secrets)
}

// open decrypts the secrets of a delivery's endpoint: of a webhook its keys, of Slack its URL.
func (s *Sender) open(d postgres.Delivery) (secrets []string, err error) {
	for _, sealed := range d.Secrets {
		plain, err := s.Ring.Open(sealed, d.EndpointID.String())
		if err != nil {
			return nil, errors.New("the secret cannot be decrypted: its key is not in ANSWERSCOPE_SECRET_KEYS")
		}
		secrets = append(secrets, string(plain))
	}
	if len(secrets) == 0 {
		return nil, errors.New("the endpoint has no secret: rotate it")
	}
	return secrets, nil
}

// sign adds the headers of Standard Webhooks 1.0.0, with a signature by each secret.
func sign(header http.Header, id string, at time.Time, body []byte, secrets []string) error {
	signatures := make([]string, len(secrets))
	for i, text := range secrets {
		signer, err := standardwebhooks.NewWebhook(text)
		if err == nil {
			signatures[i], err = signer.Sign(id, at, body)
		}
		if err != nil {
			return errors.New("the secret is not whsec_ and base64: rotate it")
		}
	}
	header.Set(standardwebhooks.HeaderWebhookID, id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}

// body returns the JSON that a webhook gets of an event.
func (s *Sender) body(d postgres.Delivery) []byte {
	text, _ := json.Marshal(struct { // cannot fail: PostgreSQL has checked Data
		ID             uuid.UUID       `json:"id"`
		Type           string          `json:"type"`
		Timestamp      time.Time       `json:"timestamp"` // when it happened
		OrganizationID uuid.UUID       `json:"organization_id"`
		URL            string          `json:"url,omitempty"` // of a screen of the dashboard
		Data           json.RawMessage `json:"data"`
	}{d.EventID, d.Type, d.At.UTC(), d.OrganizationID, s.link(d), d.Data})
	return text
}

// link returns the address of the dashboard's screen that shows more of an event.
func (s *Sender) link(d postgres.Delivery) string {
	if s.PublicURL == "" {
		return ""
	}
	var data struct {
		Brand struct {
			Slug string `json:"slug"`
		} `json:"brand"`
	}
	_ = json.Unmarshal(d.Data, &data) // data without a brand has no such object
	subject, _, _ := strings.Cut(d.Type, ".")
	brand := "/brands/" + url.PathEscape(data.Brand.Slug)
	switch {
	case subject == "webhook" || subject == "webhook_endpoint":
		return s.PublicURL + "/settings?tab=webhooks"
	case subject == "member" || subject == "key":
		return s.PublicURL + "/settings"
	case data.Brand.Slug == "" || d.Type == "brand.deleted":
		return s.PublicURL + "/"
	case subject == "tracking":
		return s.PublicURL + brand + "/tracking"
	}
	return s.PublicURL + brand
}

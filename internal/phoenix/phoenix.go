// Package phoenix is a client of Arize Phoenix, which keeps traces and what is said about them.
package phoenix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

// Options configure a Client. BaseURL is required.
type Options struct {
	// BaseURL is the address of the server, such as http://localhost:6006.
	BaseURL string
	// APIKey is sent as a bearer token, "" for none.
	APIKey string
	// HTTPClient is one of outbound's if nil.
	HTTPClient *http.Client
	// Timeout bounds a request; 10 s if 0.
	Timeout time.Duration
}

// Client asks one Phoenix server.
type Client struct {
	base *url.URL
	o    Options
}

// New makes a Client.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	if err != nil || base.Host == "" {
		return nil, errors.New("phoenix: the address of the server is no URL")
	}
	if o.HTTPClient == nil {
		o.HTTPClient = outbound.NewClient()
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Client{base, o}, nil
}

const (
	defaultTimeout = 10 * time.Second
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 16 << 20
	// maxComplaint bounds what an error repeats of an answer.
	maxComplaint = 200
)

// StatusError is an answer that is no success.
type StatusError struct {
	Status int
	// Message is the beginning of what the server said.
	Message string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("phoenix: the server answered with status %d: %s", e.Status, e.Message)
}

// do sends a JSON request to a path and decodes the answer into out, unless out is nil.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("phoenix: encode the request: %w", err)
		}
		sent = bytes.NewReader(raw)
	}
	to := c.base.JoinPath(path)
	to.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, to.String(), sent)
	if err != nil {
		return errors.New("phoenix: the server cannot be asked")
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.APIKey)
	}
	res, err := c.o.HTTPClient.Do(req)
	if err != nil {
		return fmt.Errorf("phoenix: the server was not reached: %w", outbound.Cause(err))
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("phoenix: read the answer: %w", outbound.Cause(err))
	case res.StatusCode < 200 || res.StatusCode > 299:
		return &StatusError{res.StatusCode, strings.ToValidUTF8(string(answer[:min(len(answer), maxComplaint)]), "")}
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("phoenix: the server's answer is no JSON of the expected form: %w", err)
	}
	return nil
}

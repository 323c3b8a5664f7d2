package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/p8-org/p8/tool"
)

// The kinds of search endpoints.
const (
	// Tavily takes POST {base}/search with a bearer key.
	Tavily = "tavily"
	// SearXNG takes GET {base}/search?q=…&format=json.
	SearXNG = "searxng"
)

// WebSearch is the search endpoint of web_search.
type WebSearch struct {
	// URL is the endpoint's base, with or without /search; with a key, "" is Tavily's
	// own.
	URL string
	// APIKey is sent as a bearer token.
	APIKey string
	// Kind is Tavily, SearXNG or "". With "" a key or the host means Tavily, and an
	// endpoint that does not answer as one kind is tried as the other.
	Kind string
}

// The bounds of a request to the endpoint.
const (
	webTimeout   = 20 * time.Second
	maxWebAnswer = 2 << 20
	tavilyURL    = "https://api.tavily.com"
)

// notSet names the missing setting.
const notSet = "web search is not set up here: set P8_SEARCH_URL to a SearXNG instance or a Tavily endpoint, or P8_SEARCH_API_KEY to a Tavily key"

// webHit is a result of either kind of endpoint.
type webHit struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Content     string `json:"content"`
	Image       string `json:"image"`
	ImageSource string `json:"img_src"`
	Thumbnail   string `json:"thumbnail"`
}

// webEndpoint asks a search endpoint.
type webEndpoint struct {
	WebSearch
	client *http.Client
	log    *slog.Logger
}

func newWebEndpoint(o *Options) *webEndpoint {
	client := http.Client{Timeout: webTimeout}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	// The key goes to the configured endpoint only.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e := &webEndpoint{WebSearch: o.WebSearch, client: &client, log: o.Logger}
	if e.URL == "" && e.APIKey != "" {
		e.URL = tavilyURL
	}
	e.URL = strings.TrimSuffix(strings.TrimRight(e.URL, "/"), "/search")
	return e
}

// kinds returns the kinds to try, in order.
func (e *webEndpoint) kinds() []string {
	u, err := url.Parse(e.URL)
	switch {
	case e.Kind != "":
		return []string{e.Kind}
	case e.APIKey != "", err == nil && strings.Contains(u.Hostname(), Tavily):
		return []string{Tavily, SearXNG}
	}
	return []string{SearXNG, Tavily}
}

// errOtherKind means that the endpoint is not of this kind.
var errOtherKind = errors.New("the endpoint is of another kind")

// search queries the endpoint. The error is fit for a model.
func (e *webEndpoint) search(ctx context.Context, in webSearchIn) ([]webHit, error) {
	if e.URL == "" {
		return nil, failed(notSet)
	}
	ctx, cancel := context.WithTimeout(ctx, webTimeout)
	defer cancel()
	for _, kind := range e.kinds() {
		hits, err := e.ask(ctx, kind, in)
		if !errors.Is(err, errOtherKind) {
			return hits, err
		}
	}
	return nil, failed("the search endpoint does not answer like Tavily or SearXNG; check P8_SEARCH_URL, and that a SearXNG instance allows the format json")
}

func (e *webEndpoint) request(ctx context.Context, kind string, in webSearchIn) (*http.Request, error) {
	method, address := http.MethodGet, e.URL+"/search?"+url.Values{"q": {in.Query}, "format": {"json"}}.Encode()
	var body io.Reader
	if kind == Tavily {
		text, err := json.Marshal(map[string]any{"query": in.Query, "max_results": in.Max, "search_depth": in.Depth})
		if err != nil {
			return nil, err
		}
		method, address, body = http.MethodPost, e.URL+"/search", bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, failed("the search endpoint is not an http or https URL; mend P8_SEARCH_URL")
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		if key := tool.KeyFrom(ctx); key != "" {
			req.Header.Set("Idempotency-Key", key) // each search costs money
		}
	}
	if e.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.APIKey)
	}
	return req, nil
}

// ask sends one request; it fails with errOtherKind if the endpoint is not of that
// kind.
func (e *webEndpoint) ask(ctx context.Context, kind string, in webSearchIn) ([]webHit, error) {
	req, err := e.request(ctx, kind, in)
	if err != nil {
		return nil, err
	}
	res, err := e.client.Do(req)
	if err != nil {
		var timeout interface{ Timeout() bool }
		switch {
		case errors.Is(err, context.Canceled):
			return nil, context.Canceled
		case errors.As(err, &timeout) && timeout.Timeout():
			return nil, failed("the search endpoint did not answer in time; try again later")
		}
		// The error contains the address, which clients must not see.
		e.log.WarnContext(ctx, "the search endpoint cannot be reached", "error", errors.Unwrap(err))
		return nil, failed("the search endpoint cannot be reached; try again later")
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxWebAnswer+1))
	if err := refusal(res); err != nil {
		return nil, err
	}
	var answer struct {
		Results *[]webHit `json:"results"`
	}
	switch {
	case len(text) > maxWebAnswer:
		return nil, failed(fmt.Sprintf("the search endpoint's answer is larger than %d MiB; ask for fewer results", maxWebAnswer>>20))
	case err != nil:
		return nil, failed("the search endpoint broke off its answer; try again")
	case json.Unmarshal(text, &answer) != nil || answer.Results == nil:
		return nil, errOtherKind
	}
	return *answer.Results, nil
}

// refusal describes a status other than 200. The endpoint's own text may repeat the key.
func refusal(res *http.Response) error {
	switch code := res.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return errOtherKind
	case code >= 300 && code < 400:
		return failed("the search endpoint points to another address; set P8_SEARCH_URL to that one")
	case code == http.StatusUnauthorized:
		return failed("the search endpoint refused the key; check P8_SEARCH_API_KEY")
	case code == http.StatusForbidden:
		return failed("the search endpoint refused the request; check P8_SEARCH_API_KEY, and that a SearXNG instance allows the format json")
	case code == http.StatusTooManyRequests, code == 432, code == 433:
		// Tavily answers 432 and 433 when the plan is used up.
		wait := res.Header.Get("Retry-After")
		if len(wait) > 0 && len(wait) <= 6 && strings.Trim(wait, "0123456789") == "" {
			return failed("the search endpoint allows no more searches for now; try again in " + wait + " seconds")
		}
		return failed("the search endpoint allows no more searches for now")
	case code >= 500:
		return failed(fmt.Sprintf("the search endpoint has a problem of its own (status %d); try again later", code))
	default:
		return failed(fmt.Sprintf("the search endpoint refused the search (status %d)", code))
	}
}

package openai

import (
	"net/http"
	"net/url"
	"strings"
)

// azure is the provider with its own addresses and key header.
const azure = "azure"

// address returns the URL of requests. An Azure resource has the v1 API below
// /openai/v1; with a dated version, each deployment, named like the model, has its own
// address.
func address(o *Options, base *url.URL, responses bool) string {
	path := "chat/completions"
	if responses {
		path = "responses"
	}
	if o.Provider != azure {
		return base.JoinPath(path).String()
	}
	u := *base
	if o.APIVersion == "" || o.APIVersion == "v1" || o.APIVersion == "preview" {
		if !strings.Contains(u.Path, "/openai") {
			u = *u.JoinPath("openai/v1")
		}
		return u.JoinPath(path).String()
	}
	if !strings.Contains(u.Path, "/openai") {
		u = *u.JoinPath("openai")
	}
	if !responses && !strings.Contains(u.Path, "/deployments/") {
		u = *u.JoinPath("deployments", o.Model)
	}
	u = *u.JoinPath(path)
	u.RawQuery = url.Values{"api-version": {o.APIVersion}}.Encode()
	return u.String()
}

// authorize sets the provider's key header.
func authorize(provider, key string) func(http.Header) {
	return func(h http.Header) {
		switch {
		case key == "":
		case provider == azure:
			h.Set("Api-Key", key)
		default:
			h.Set("Authorization", "Bearer "+key)
		}
	}
}

// Package web holds what every route knows of a request, and how it answers with
// JSON.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// The headers that p8 adds to its answers.
const (
	// HeaderRequestID names a request in the log. A client may choose the id.
	HeaderRequestID = "X-Request-Id"
	// HeaderRunID names the run that answers a message.
	HeaderRunID = "X-Run-Id"
)

type requestIDKey struct{}

// WithRequestID returns a context that carries the id of its request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id of the request that ctx belongs to, "" if it has none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// prefixes are the alternative beginnings of every path. A prefix that begins with another
// one comes first.
var prefixes = [...]string{"/api/v1", "/v1"}

// CutPrefix removes the prefix of a path; "/v1/models" becomes "/models". prefix is "" if
// the path has none.
func CutPrefix(path string) (prefix, rest string) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(path, p); ok && strings.HasPrefix(rest, "/") {
			return p, rest
		}
	}
	return "", path
}

// sharedRoot begins the address of a shared session.
const sharedRoot = "/shared/"

// CutShared divides the path of a shared session, "/shared/{share}/rest", with or without a
// prefix before it.
func CutShared(path string) (share, rest string, ok bool) {
	_, path = CutPrefix(path)
	if path, ok = strings.CutPrefix(path, sharedRoot); !ok {
		return "", "", false
	}
	share, rest, _ = strings.Cut(path, "/")
	return share, "/" + rest, share != ""
}

// SharedPath is the path of a share's session.
func SharedPath(share string) string { return sharedRoot + share }

// LogPath returns a path as the log shows it: the address of a share may be a secret.
func LogPath(path string) string {
	if _, rest, ok := CutShared(path); ok {
		return sharedRoot + "…" + rest
	}
	return path
}

// Path returns a request's path as routes are registered: without a prefix and
// without a slash at its end.
func Path(path string) string {
	_, path = CutPrefix(path)
	return strings.TrimSuffix(path, "/")
}

// MediaType returns the media type of the request's body, "" if the client did not
// say.
func MediaType(r *http.Request) (string, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return "", nil
	}
	t, _, err := mime.ParseMediaType(header)
	return t, err
}

// IsJSON reports whether a media type is JSON, or a format written in JSON.
func IsJSON(mediaType string) bool {
	return mediaType == "application/json" || strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json")
}

// IsYAML reports whether a media type is application/yaml (RFC 9512), one of its older
// names, or a format written in YAML.
func IsYAML(mediaType string) bool {
	switch mediaType {
	case "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml":
		return true
	}
	return strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+yaml")
}

// Accepts reports whether the client names the media type in its Accept header.
// Wildcards do not count.
func Accepts(r *http.Request, mediaType string) bool {
	for _, header := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(header, ",") {
			if name, _, _ := strings.Cut(part, ";"); strings.EqualFold(strings.TrimSpace(name), mediaType) {
				return true
			}
		}
	}
	return false
}

// IsObject reports whether a JSON text is an object.
func IsObject(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{'
}

// Encode returns v as JSON with a newline. It is for values that always can be encoded.
func Encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return b.Bytes()
}

// WriteJSON answers with v.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(Encode(v))
}

// Cut shortens a client's text to 64 characters, so that an error can quote it.
func Cut(s string) string {
	const limit = 64
	s = strings.ToValidUTF8(s, "\ufffd")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

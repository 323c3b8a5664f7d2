package tool

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/p8-org/p8/identity"
)

// placeholder matches {name} in a URI: RFC 6570, level 1.
var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

var placeholderName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)

// uriTemplate is a URI with placeholders: texts[0] names[0] texts[1] …
type uriTemplate struct {
	texts []string
	names []string
}

// parseTemplate reads the placeholders; the error is fit for a client.
func parseTemplate(uri string) (uriTemplate, error) {
	var t uriTemplate
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(uri, -1) {
		name := uri[m[2]:m[3]]
		if !placeholderName.MatchString(name) {
			return t, fmt.Errorf("its uri has the placeholder {%s}; only {name} is possible", Cut(name, 40))
		}
		t.texts, t.names = append(t.texts, uri[at:m[0]]), append(t.names, name)
		at = m[1]
	}
	t.texts = append(t.texts, uri[at:])
	return t, nil
}

// fromIdentity returns the field of the identity that a placeholder names.
func fromIdentity(name string, id identity.Identity) (value string, ok bool) {
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)) {
	case "userid":
		return id.UserID, true
	case "sessionid":
		return id.SessionID, true
	case "tenantid":
		return id.TenantID, true
	case "agentname", "agentschema", "agentschemauri":
		return id.AgentSchemaURI, true
	}
	return "", false
}

// parameters returns the placeholders that the model fills, each once.
func (t uriTemplate) parameters() []string {
	var out []string
	for _, name := range t.names {
		if _, hidden := fromIdentity(name, identity.Identity{}); !hidden && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// expand fills the placeholders, those of the identity from the caller. shown is the
// URI without the parts that the model must not see.
func (t uriTemplate) expand(args map[string]string, id identity.Identity) (uri, shown string, err error) {
	var full, open strings.Builder
	add := func(text string) { full.WriteString(text); open.WriteString(text) }
	for i, name := range t.names {
		add(t.texts[i])
		value, hidden := fromIdentity(name, id)
		switch {
		case hidden && value == "":
			return "", "", &Error{name + " is not available in this context"}
		case hidden:
			full.WriteString(percentEncode(value))
			open.WriteString("{" + name + "}")
			continue
		case args[name] == "":
			return "", "", &Error{"the argument " + name + " is empty"}
		}
		add(percentEncode(args[name]))
	}
	if n := len(t.texts); n > 0 {
		add(t.texts[n-1])
	}
	return full.String(), open.String(), nil
}

// discreet removes those parts from an error about a URI.
func (t uriTemplate) discreet(ctx context.Context, uri, shown string, err *Error) error {
	text := strings.ReplaceAll(err.Message, uri, shown)
	id, none := identity.From(ctx)
	if none != nil {
		return &Error{text}
	}
	for _, name := range t.names {
		if value, hidden := fromIdentity(name, id); hidden && value != "" && strings.Contains(text, value) {
			return &Error{"there is no resource " + shown}
		}
	}
	return &Error{text}
}

// climbs reports whether a URI has . or .. between its slashes, in any encoding.
func climbs(uri string) bool {
	_, path, ok := strings.Cut(uri, "://")
	if !ok {
		path = uri
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(`/\?#`, r) }),
		func(part string) bool { return part == "." || part == ".." })
}

// percentEncode keeps RFC 3986's unreserved characters.
func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

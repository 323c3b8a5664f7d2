package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The media types of resources.
const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeMarkdown = "text/markdown"
)

// maxURI is the longest URI that is read; maxCompletions bounds the values of a
// completion.
const (
	maxURI         = 2048
	maxCompletions = 100
)

// Resources are p8's resources. Each shows only what the caller in the context may
// see.
type Resources struct{ all []resource }

// resource is a resource, or a template with one placeholder at its end.
type resource struct {
	tool.ResourceInfo
	// read gets the placeholder's value, "" for a resource without one.
	read func(ctx context.Context, value string) (text string, err error)
	// values lists the possible values of the placeholder; nil if they are unknown.
	values func(ctx context.Context) ([]string, error)
}

// NewResources returns the resources whose parts the options have.
func NewResources(o Options) *Resources {
	o = o.filled()
	r := new(Resources)
	r.add("user://profile", "profile", "User profile", "Who the user is, and what is remembered about them.", typeJSON,
		func(ctx context.Context, _ string) (string, error) {
			p, err := profileOf(ctx, o.Store)
			return encoded(p, err)
		}, nil)
	r.add("user://profile/{user_id}", "own-profile", "User profile by id", "The profile of the user who asks, by their id or e-mail; nobody else's.", typeJSON,
		func(ctx context.Context, user string) (string, error) {
			id, err := identity.From(ctx)
			if err == nil && (id.Anonymous() || user != id.UserID && identity.UserID(user) != id.UserID) {
				err = unknown("profile", user, nil)
			}
			if err != nil {
				return "", err
			}
			p, err := profileOf(ctx, o.Store)
			return encoded(p, err)
		},
		func(ctx context.Context) ([]string, error) {
			id, err := identity.From(ctx)
			if err != nil || id.Anonymous() {
				return nil, err
			}
			return []string{id.UserID}, nil
		})
	r.addREM(&o)
	if o.Documents != nil {
		r.addAgents(o.Documents)
	}
	if o.Store != nil {
		r.addSessions(o.Store)
		r.addFiles(o.Store)
		r.addKnowledge(o.Store)
		r.addMoments(o.Store)
	}
	return r
}

func (r *Resources) add(uri, name, title, description, media string,
	read func(context.Context, string) (string, error), values func(context.Context) ([]string, error),
) {
	r.all = append(r.all, resource{tool.ResourceInfo{
		URI: uri, Template: strings.HasSuffix(uri, "}"), Name: name, Title: title, Description: description, MediaType: media,
	}, read, values})
}

// List returns every resource and template.
func (r *Resources) List(context.Context) ([]tool.ResourceInfo, error) {
	infos := make([]tool.ResourceInfo, len(r.all))
	for i, x := range r.all {
		infos[i] = x.ResourceInfo
	}
	return infos, nil
}

// Read reads the resource of a URI.
func (r *Resources) Read(ctx context.Context, uri string) ([]tool.Contents, error) {
	if len(uri) > maxURI {
		return nil, failed("the URI is too long to be one of these resources")
	}
	for _, x := range r.all {
		value, ok := x.match(uri)
		if !ok {
			continue
		}
		text, err := x.read(ctx, value)
		if err != nil {
			return nil, worded(err)
		}
		return []tool.Contents{{URI: uri, MediaType: x.MediaType, Text: text}}, nil
	}
	var uris []string
	for _, x := range r.all {
		uris = append(uris, x.URI)
	}
	return nil, unknown("resource", uri, near.Names(uri, uris, 3))
}

// match returns the value of the placeholder in the URI.
func (x *resource) match(uri string) (value string, ok bool) {
	if !x.Template {
		return "", uri == x.URI
	}
	value, ok = strings.CutPrefix(uri, x.prefix())
	if !ok || value == "" || strings.ContainsAny(value, "/?#") {
		return "", false
	}
	value, err := url.PathUnescape(value)
	// No name has these, and databases may refuse them.
	odd := !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl)
	return value, err == nil && !odd
}

// prefix returns a template without its placeholder.
func (x *resource) prefix() string { return x.URI[:strings.LastIndexByte(x.URI, '{')] }

// Complete returns the values of a template's placeholder that begin with prefix, at
// most 100.
func (r *Resources) Complete(ctx context.Context, template, argument, prefix string) []string {
	for _, x := range r.all {
		if x.URI != template || !x.Template || x.values == nil || x.prefix()+"{"+argument+"}" != template {
			continue
		}
		values, err := x.values(ctx)
		if err != nil {
			return nil
		}
		values = slices.DeleteFunc(values, func(v string) bool { return !strings.HasPrefix(strings.ToLower(v), strings.ToLower(prefix)) })
		return values[:min(len(values), maxCompletions)]
	}
	return nil
}

// unknown returns the error of a missing resource; it suggests similar ones.
func unknown(what, name string, near []string) error {
	text := "there is no " + what + " " + tool.Cut(name, 128) + " here"
	if len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return failed(text)
}

// absent says that a row was not found.
func absent(err error, what, name string) error {
	if errors.Is(err, store.ErrNotFound) {
		return unknown(what, name, nil)
	}
	return err
}

// encoded returns a resource's JSON, indented for people.
func encoded(v any, err error) (string, error) {
	if err != nil {
		return "", err
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(v)
	return strings.TrimRight(b.String(), "\n"), err
}

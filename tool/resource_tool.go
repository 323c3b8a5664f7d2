package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/llm"
)

// The bounds of a resource tool's lists.
const (
	maxListed     = 100
	maxURI        = 4 << 10
	maxParameters = 20
)

// resource makes a tool of a resource that the document declares.
func (r *resolver) resource(res agent.Resource) {
	ref := agent.ToolRef{Name: res.Name, Server: res.Server, Description: res.Description, URI: res.URI}
	if ref.Name == "" {
		ref.Name = res.URI + res.URIPattern
	}
	if !r.again(ref, "resource:"+res.URI+res.URIPattern) {
		r.resourceTool(ref, res)
	}
}

func (r *resolver) resourceTool(ref agent.ToolRef, res agent.Resource) {
	from := r.box.Resources
	if !ref.LocalBeside(r.rem) {
		a, ok := r.server(ref)
		if !ok {
			return
		}
		from = a.server
	}
	if from == nil {
		r.miss(Missing{Ref: ref, Reason: "this process has no resources"})
		return
	}
	t, err := newResourceTool(from, res)
	if err != nil {
		r.miss(Missing{Ref: ref, Reason: err.Error()})
		return
	}
	server := ""
	if !ref.LocalBeside(r.rem) {
		server = ref.Server
	}
	r.add(withApproval(t, r.agent.Name, ref), server)
}

// resourceTool reads one resource, one of a template, or any that matches a pattern.
type resourceTool struct {
	Base
	from Resources
	uri  uriTemplate
	// pattern is set for a tool that takes any matching URI.
	pattern *regexp.Regexp
}

// Annotations say that reading changes nothing.
func (t *resourceTool) Annotations() Annotations {
	return Annotations{ReadOnly: true, Idempotent: true}
}

// newResourceTool makes the tool; the error is fit for a client.
func newResourceTool(from Resources, res agent.Resource) (*resourceTool, error) {
	t := &resourceTool{from: from}
	properties, required := map[string]any{}, []string{}
	source, what := res.URI, "Reads the resource "+res.URI+"."
	var err error
	switch {
	case res.URI != "":
		if t.uri, err = parseTemplate(res.URI); err != nil {
			return nil, err
		}
		for _, name := range t.uri.parameters() {
			properties[name] = map[string]string{"type": "string"}
			required = append(required, name)
		}
		if len(required) > maxParameters {
			return nil, fmt.Errorf("its uri has more than %d placeholders", maxParameters)
		}
	default:
		source, what = res.URIPattern, "Reads a resource whose URI matches "+res.URIPattern+"; without a URI it lists them."
		if t.pattern, err = regexp.Compile(`^(?:` + res.URIPattern + `)$`); err != nil {
			return nil, errors.New("its uri_pattern is no regular expression")
		}
		properties["uri"] = map[string]any{"type": "string", "description": "The resource to read; leave it out to list what there is."}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	if res.Description != "" {
		what = res.Description
	}
	t.Base, err = NewBase(llm.ToolSpec{Name: resourceName(res.Name, source, t.uri), Description: what, Parameters: raw})
	if err != nil {
		return nil, errors.New("no tool can be made of its uri")
	}
	return t, nil
}

// notInNames matches the characters that become underscores in a tool's name.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9-]+`)

// resourceName returns the given name, else get_ and the words of the URI, with _by_
// and the parameters of a template.
func resourceName(name, source string, uri uriTemplate) string {
	plain := func(s string) string { return strings.Trim(notInNames.ReplaceAllString(s, "_"), "_") }
	if name != "" && !strings.Contains(name, "://") {
		if name = plain(strings.ToLower(name)); name != "" {
			return llm.SafeName(name)
		}
	}
	out := "get_" + plain(placeholder.ReplaceAllString(source, ""))
	if parameters := uri.parameters(); len(parameters) > 0 {
		out += "_by_" + plain(strings.Join(parameters, "_"))
	}
	return llm.SafeName(strings.TrimSuffix(out, "_"))
}

// Call reads the resource.
func (t *resourceTool) Call(ctx context.Context, call Call) (Result, error) {
	var args map[string]string
	if len(call.Arguments) > 0 {
		if err := json.Unmarshal(call.Arguments, &args); err != nil {
			return Result{}, &Error{"the arguments are not texts"}
		}
	}
	uri, shown := args["uri"], args["uri"]
	switch {
	case t.pattern != nil && uri == "":
		return t.list(ctx)
	case t.pattern != nil && !t.pattern.MatchString(uri):
		return Result{}, &Error{"the uri does not match " + t.pattern.String() + "; call without a uri to list what there is"}
	case t.pattern == nil:
		id, err := identity.From(ctx)
		if err != nil {
			id = identity.Identity{}
		}
		if uri, shown, err = t.uri.expand(args, id); err != nil {
			return Result{}, err
		}
	}
	if len(uri) > maxURI {
		return Result{}, &Error{fmt.Sprintf("the uri is longer than %d bytes", maxURI)}
	}
	if len(args) > 0 && climbs(shown) {
		// A pattern limits what is read; .. would escape it.
		return Result{}, &Error{"a uri cannot have . or .. between its slashes"}
	}
	return t.read(ctx, uri, shown)
}

// read reads the resource; shown is its URI as the model may see it.
func (t *resourceTool) read(ctx context.Context, uri, shown string) (Result, error) {
	found, err := t.from.Read(ctx, uri)
	if err != nil {
		return Result{}, t.unknown(ctx, uri, shown, err)
	}
	var a Assembly
	for _, c := range found {
		if c.Data != nil {
			a.File(c.MediaType, strings.ReplaceAll(c.URI, uri, shown), c.Data)
		} else {
			a.Text(c.Text)
		}
	}
	if a.Empty() {
		a.Text("[" + shown + " is empty]")
	}
	return a.Result(), nil
}

// unknown adds similar URIs to an error. It adds none for a server that is down, and
// none for a URI with parts that the model does not see: its neighbours may be other
// users'.
func (t *resourceTool) unknown(ctx context.Context, uri, shown string, err error) error {
	var known *Error
	if !errors.As(err, &known) {
		return err
	}
	if uri != shown {
		return t.uri.discreet(ctx, uri, shown, known)
	}
	list, listErr := t.from.List(ctx)
	if listErr != nil {
		return err
	}
	var uris []string
	for _, info := range list {
		if t.pattern == nil || t.pattern.MatchString(info.URI) {
			uris = append(uris, info.URI)
		}
	}
	similar := near.Names(uri, uris, maxNear)
	if len(similar) == 0 || slices.Contains(similar, uri) {
		return err
	}
	return &Error{known.Message + "; did you mean " + strings.Join(similar, " or ") + "?"}
}

// list lists the URIs that match the pattern.
func (t *resourceTool) list(ctx context.Context) (Result, error) {
	all, err := t.from.List(ctx)
	if err != nil {
		return Result{}, err
	}
	type entry struct {
		URI         string `json:"uri"`
		Name        string `json:"name,omitempty"`
		Description string `json:"description,omitempty"`
		MediaType   string `json:"media_type,omitempty"`
	}
	out := struct {
		Resources []entry `json:"resources"`
		More      int     `json:"more,omitempty"`
	}{Resources: []entry{}}
	for _, info := range all {
		if !t.pattern.MatchString(info.URI) {
			continue
		}
		if len(out.Resources) == maxListed {
			out.More++
			continue
		}
		out.Resources = append(out.Resources, entry{info.URI, info.Name, Cut(info.Description, 200), info.MediaType})
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return Result{}, err
	}
	return Result{Content: string(raw)}, nil
}

package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/tool"
)

// shelf has the caller's resources: a profile, some pages, a template.
type shelf struct{ pages int }

func (s shelf) List(context.Context) ([]tool.ResourceInfo, error) {
	list := []tool.ResourceInfo{
		{URI: "user://profile", Name: "profile", MediaType: "application/json"},
		{URI: "files://{id}", Template: true, Name: "file"},
	}
	for i := range s.pages {
		list = append(list, tool.ResourceInfo{URI: fmt.Sprintf("page://%03d", i), Name: "page"})
	}
	return list, nil
}

func (shelf) Read(ctx context.Context, uri string) ([]tool.Contents, error) {
	id, err := identity.From(ctx)
	switch {
	case err != nil:
		return nil, err
	case uri == "user://profile":
		return []tool.Contents{{URI: uri, MediaType: "application/json", Text: `{"user":"` + id.UserID + `"}`}}, nil
	case uri == "files://1":
		return []tool.Contents{{URI: uri, MediaType: "image/png", Data: []byte("png")}}, nil
	case uri == "files://broken":
		return nil, errors.New("open /var/lib/secret: denied")
	}
	return nil, &tool.Error{Message: "there is no " + uri}
}

func (shelf) Complete(_ context.Context, template, argument, prefix string) []string {
	if template != "rem://agents/{name}" || argument != "name" {
		return nil
	}
	var names []string
	for i := range 150 {
		names = append(names, fmt.Sprintf("%s%d", prefix, i))
	}
	return names
}

func TestResources(t *testing.T) {
	s := newServer(t, mcpserver.Options{
		Resources: shelf{pages: 24}, Completer: shelf{}, PageSize: 10,
		Extend: func(s *sdk.Server) {
			for i := range 11 { // more than a page before the caller's own
				s.AddResource(&sdk.Resource{URI: fmt.Sprintf("fixed://%02d", i), Name: "fixed"},
					func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
						return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{Text: "fixed"}}}, nil
					})
			}
		},
	})
	c := connect(t, s, identity.Identity{UserID: "alice"}, nil)

	t.Run("pages", func(t *testing.T) {
		var uris []string
		for r, err := range c.Resources(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			uris = append(uris, r.URI)
		}
		if len(uris) != 36 || len(slices.Compact(slices.Sorted(slices.Values(uris)))) != 36 || uris[11] != "user://profile" || uris[35] != "page://023" {
			t.Errorf("%d: %v", len(uris), uris)
		}
		first, err := c.ListResources(t.Context(), nil)
		if err != nil || len(first.Resources) != 10 || first.CacheScope != "private" {
			t.Errorf("%+v %v", first, err)
		}
		for _, bad := range []string{"p8.x", "p8.-1", "nonsense"} {
			if _, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: bad}); err == nil {
				t.Errorf("the cursor %q was taken", bad)
			}
		}
	})
	t.Run("templates", func(t *testing.T) {
		list, err := c.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(list.ResourceTemplates) != 1 || list.ResourceTemplates[0].URITemplate != "files://{id}" {
			t.Errorf("%+v %v", list, err)
		}
	})
	t.Run("read", func(t *testing.T) {
		for uri, want := range map[string]string{
			"user://profile": `{"user":"alice"}`, "files://1": "png", "fixed://01": "fixed",
		} {
			res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err != nil || res.Contents[0].Text+string(res.Contents[0].Blob) != want || res.Contents[0].URI != uri {
				t.Errorf("%s: %+v %v", uri, res, err)
			}
		}
		for uri, want := range map[string]string{
			"files://2": "there is no files://2", "files://broken": "something went wrong on the server; its log says what",
		} {
			_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", uri, err)
			}
		}
	})
	t.Run("complete", func(t *testing.T) {
		for _, ref := range []*sdk.CompleteReference{
			{Type: "ref/resource", URI: "rem://agents/{name}"}, {Type: "ref/prompt", Name: "create_agent"},
		} {
			res, err := c.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "name", Value: "ge"}})
			if err != nil || len(res.Completion.Values) != 100 || !res.Completion.HasMore || res.Completion.Values[0] != "ge0" {
				t.Errorf("%v: %+v %v", ref, res, err)
			}
		}
		res, err := c.Complete(t.Context(), &sdk.CompleteParams{
			Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "other"}, Argument: sdk.CompleteParamsArgument{Name: "x"},
		})
		if err != nil || len(res.Completion.Values) != 0 {
			t.Errorf("%+v %v", res, err)
		}
	})
}

func TestSubscriptions(t *testing.T) {
	s := newServer(t, mcpserver.Options{Resources: shelf{}})
	listen := func(user string) (*sdk.ClientSession, chan string) {
		heard := make(chan string, 10)
		c := connectAs(t, s, identity.Identity{UserID: user}, &sdk.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
				if _, leaked := r.Params.Meta["p8/owner"]; leaked {
					t.Error("the owner was sent")
				}
				heard <- r.Params.URI
			},
		}, sessions)
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "user://profile"}); err != nil {
			t.Fatal(err)
		}
		return c, heard
	}
	as := func(user string) context.Context {
		return identity.With(t.Context(), identity.Identity{UserID: user})
	}
	alice, toAlice := listen("alice")
	_, toBob := listen("bob")
	s.Changed(as("alice"), "user://profile")
	if uri := <-toAlice; uri != "user://profile" {
		t.Error(uri)
	}
	s.Changed(as(""), "user://profile") // a shared row
	<-toAlice
	<-toBob
	s.Changed(identity.With(t.Context(), identity.Identity{TenantID: "other"}), "user://profile")
	s.Changed(t.Context(), "user://profile")
	<-toAlice
	<-toBob
	if len(toAlice)+len(toBob) != 0 {
		t.Error("a change of somebody else's was told")
	}

	for i := range 99 {
		if err := alice.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fmt.Sprintf("files://%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	err := alice.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "files://more"})
	if err == nil || !strings.Contains(err.Error(), "listens to 100 resources already") {
		t.Error(err)
	}
	if err := alice.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "user://profile"}); err != nil {
		t.Fatal(err)
	}
	if err := alice.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "files://more"}); err != nil {
		t.Error(err)
	}
	s.Changed(t.Context(), "user://profile")
	<-toBob
	if len(toAlice) != 0 {
		t.Error("told after unsubscribing")
	}
}

// Touches names the resources that a tool changes; a URI may come from the tool's answer.
func TestToolsTouchResources(t *testing.T) {
	answers := []string{`{"name":"a/b"}`, `{"name":""}`, `no JSON`}
	save, err := tool.New("save", "Saves.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (any, error) {
		return answers[in.N], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{save}, Resources: shelf{}, Touches: map[string][]string{"save": {"x://{name}", "x://all"}}})
	heard := make(chan string, 10)
	c := connectAs(t, s, identity.Identity{UserID: "alice"}, &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI },
	}, sessions)
	for _, uri := range []string{"x://a%2Fb", "x://all", "x://"} {
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range [][]string{{"x://a%2Fb", "x://all"}, {"x://all"}, {"x://all"}} {
		call(t, c, "save", map[string]any{"n": n})
		for _, uri := range want {
			if got := <-heard; got != uri {
				t.Errorf("%d: %s, want %s", n, got, uri)
			}
		}
	}
}

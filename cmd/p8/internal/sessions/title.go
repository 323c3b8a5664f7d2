package sessions

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/store"
)

type sessionsTitleCmd struct {
	ID    string `arg:"" name:"session" help:"Id of the session."`
	Title string `arg:"" name:"title" help:"The title; an empty one lets an agent name the session again."`
	command.Caller
	peer.Elsewhere
}

// Run sets the title.
func (c *sessionsTitleCmd) Run(a *command.App) error {
	title := store.CleanTitle(c.Title)
	if n := utf8.RuneCountInString(title); n > store.MaxTitle {
		return command.Usage("the title has %d characters: give at most %d", n, store.MaxTitle)
	}
	err := peer.At(a, c.Caller, c.Elsewhere, "sessions", func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodPatch, "sessions/"+url.PathEscape(c.ID), nil, map[string]string{"title": title}, nil)
	}, func(ctx context.Context, p *wiring.Parts) error {
		_, err := p.Store.PatchSession(ctx, c.ID, store.SessionPatch{Name: &title})
		return explainSession(p, c.ID, err)
	})
	switch {
	case err != nil:
		return err
	case title == "":
		fmt.Fprintf(a.Stdout, "session %s has no title of yours\n", show.OneLine(c.ID))
	default:
		fmt.Fprintf(a.Stdout, "session %s is now called %s\n", show.OneLine(c.ID), show.OneLine(title))
	}
	return nil
}

package middleware

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
)

// Shares opens the sessions that their owners share.
type Shares interface {
	// OpenShare returns the caller of ctx as a guest of the session, OpenLink whoever has the
	// secret of a link. A share that is not the caller's, or is over, is store.ErrNotFound.
	OpenShare(ctx context.Context, id string) (identity.Identity, store.Share, error)
	OpenLink(ctx context.Context, secret string) (identity.Identity, store.Share, error)
}

type doorKey struct{}

// opened removes /shared/{share} from the path: the rest is a route within one session, which
// the share opens for the caller.
func (c *chain) opened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		share, rest, ok := web.CutShared(r.URL.Path)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		// The address may be a secret.
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		u := *r.URL
		_, raw, _ := web.CutShared(u.EscapedPath())
		u.Path, u.RawPath = rest, raw
		inner := *r
		inner.URL = &u
		next.ServeHTTP(w, inner.WithContext(context.WithValue(r.Context(), doorKey{}, share)))
	})
}

// enter returns the caller as a guest of the share that the path names, and the request to the
// route within its session. A path without a share returns the caller that was identified.
func (c *chain) enter(r *http.Request, id identity.Identity, err error) (identity.Identity, *http.Request, error) {
	share, through := r.Context().Value(doorKey{}).(string)
	if !through {
		return id, r, err
	}
	isLink := strings.HasPrefix(share, store.LinkPrefix)
	if refused := (*auth.Refused)(nil); err != nil && !(isLink && c.ShareLinks && errors.As(err, &refused) && !refused.Bad) {
		return id, r, err
	}
	if err == nil && id.Visitor() && !(isLink && c.ShareLinks) {
		return id, r, &auth.Refused{Message: "this share needs a token: send the header Authorization: Bearer TOKEN"}
	}
	if c.Shares == nil {
		return id, r, problem.NoStore()
	}
	guest, err := c.open(r.Context(), share, id, isLink, err != nil)
	if errors.Is(err, store.ErrNotFound) {
		err = &problem.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such share, or it is over"}
	}
	if err != nil {
		return id, r, err
	}
	if id.SessionID != "" && id.SessionID != guest.SessionID {
		return id, r, problem.Invalid(identity.HeaderSessionID, "%s names another session than the one that is shared; send its id, or leave the header out", identity.HeaderSessionID)
	}
	inside := within(r, guest.Shared.Session, guest.MayWrite())
	if inside == nil {
		return id, r, &problem.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "a share opens the messages, branches, runs and approvals of its session, and chats in it: this path is none of them"}
	}
	return guest, inside, nil
}

// open returns the guest of a share. A link of another tenant opens only if links need no
// sign-in.
func (c *chain) open(ctx context.Context, share string, id identity.Identity, isLink, stranger bool) (identity.Identity, error) {
	if !isLink {
		guest, _, err := c.Shares.OpenShare(identity.With(ctx, id), share)
		return guest, err
	}
	guest, x, err := c.Shares.OpenLink(ctx, share)
	if err == nil && !stranger && !c.ShareLinks && x.TenantID != id.TenantID {
		err = store.ErrNotFound
	}
	if !stranger {
		guest.Expires, guest.KeyID = id.Expires, id.KeyID
	}
	return guest, err
}

// within returns the request to a route of a session, nil if a guest may not use the route.
// Only guests who write choose an agent. What a guest may do there is the store's decision.
func within(r *http.Request, session string, writes bool) *http.Request {
	path := r.URL.Path
	switch path {
	case "", "/", "/messages", "/branches":
		u := *r.URL
		rest := strings.TrimSuffix(path, "/")
		u.Path, u.RawPath = "/sessions/"+session+rest, "/sessions/"+url.PathEscape(session)+rest
		inside := *r
		inside.URL = &u
		r = &inside
		path = u.Path
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	under := func(prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }
	switch {
	case strings.HasSuffix(path, "/trace"): // what the owner's agents did and what it cost
		return nil
	case under("/runs"), under("/approvals"), under("/chat"), under("/api/chat"), under("/responses"):
	case reads && writes && under("/models"):
	case reads && (strings.HasPrefix(path, "/sessions/") || under("/messages")) && !strings.HasSuffix(path, "/timeline") && !strings.HasSuffix(path, "/context") && !strings.HasSuffix(path, "/shares"):
	default:
		return nil
	}
	return r
}

// watched returns a context that ends soon after the guest's share is over, so that no stream
// outlives it. A failing store ends nothing.
func (c *chain) watched(ctx context.Context, id identity.Identity, share string) (context.Context, context.CancelFunc) {
	ctx, end := auth.WithEnd(ctx)
	isLink := strings.HasPrefix(share, store.LinkPrefix)
	id.Shared = identity.Shared{}
	go func() {
		tick := time.NewTicker(cmp.Or(c.ShareCheck, 2*time.Second))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if _, err := c.open(ctx, share, id, isLink, true); errors.Is(err, store.ErrNotFound) {
				end()
			}
		}
	}()
	return ctx, end
}

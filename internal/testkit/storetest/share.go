package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// shares: a session that its owner shares is open to its guests alone, with what the share
// allows and nothing else of the owner's.
func shares(t *testing.T, open Open) {
	s := open(t)
	member := func(tenant, user string) context.Context {
		return identity.With(context.Background(), identity.Identity{TenantID: tenant, UserID: user, Name: user, Role: identity.RoleMember})
	}
	ann, bob, cid, foreign, nobody := member("t", "ann"), member("t", "bob"), member("t", "cid"), member("u", "bob"), member("t", "")
	first := begin(t, s, ann, "s", "hello from ann")
	private := begin(t, s, ann, "private", "a secret of ann")
	begin(t, s, bob, "s", "bob's own")
	begin(t, s, cid, "mine", "cid was here")
	begin(t, s, foreign, "s", "another tenant's")
	begin(t, s, nobody, "s", "nobody's")

	put := func(ctx context.Context, x store.Share) (store.Share, error) {
		err := s.PutShare(ctx, &x)
		return x, err
	}
	for what, c := range map[string]struct {
		ctx  context.Context
		x    store.Share
		want error
	}{
		"oneself":               {ann, store.Share{SessionID: "s", UserID: "ann"}, store.ErrInvalid},
		"an unknown user":       {ann, store.Share{SessionID: "s", UserID: "zoe"}, store.ErrNotFound},
		"an unknown address":    {ann, store.Share{SessionID: "s", UserID: "zoe@example.com"}, store.ErrNotFound},
		"nobody":                {ann, store.Share{SessionID: "s"}, store.ErrInvalid},
		"a link with a user":    {ann, store.Share{SessionID: "s", UserID: "bob", Link: true}, store.ErrInvalid},
		"a link that writes":    {ann, store.Share{SessionID: "s", Link: true, Role: store.ShareWrite}, store.ErrInvalid},
		"a strange role":        {ann, store.Share{SessionID: "s", UserID: "bob", Role: "admin"}, store.ErrInvalid},
		"the past":              {ann, store.Share{SessionID: "s", UserID: "bob", ExpiresAt: time.Now().Add(-time.Minute)}, store.ErrInvalid},
		"somebody's session":    {bob, store.Share{SessionID: "private", UserID: "cid"}, store.ErrNotFound},
		"a session of none":     {ann, store.Share{SessionID: "none", UserID: "bob"}, store.ErrNotFound},
		"without a user":        {nobody, store.Share{SessionID: "s", UserID: "bob"}, store.ErrForbidden},
		"a user elsewhere":      {foreign, store.Share{SessionID: "s", UserID: "ann"}, store.ErrNotFound},
		"by whom may not write": {identity.With(ann, identity.Identity{TenantID: "t", UserID: "ann", Role: identity.RoleReader}), store.Share{SessionID: "s", UserID: "bob"}, store.ErrForbidden},
	} {
		_, err := put(c.ctx, c.x)
		wantErr(t, what, err, c.want)
	}

	read, err := put(ann, store.Share{SessionID: "s", UserID: "bob"})
	must(t, err)
	again, err := put(ann, store.Share{SessionID: "s", UserID: "bob", Role: store.ShareRead})
	must(t, err)
	wantEqual(t, "shared twice", again.ID, read.ID)
	link, err := put(ann, store.Share{SessionID: "s", Link: true})
	must(t, err)
	if len(link.Secret) < 43 {
		t.Errorf("the secret %q is short", link.Secret)
	}
	wantEqual(t, "shares", each(get[[]store.Share](t)(s.Shares(ann, "s")), func(x store.Share) string { return x.UserID + x.Role }), []string{"bobreader", "reader"})
	if _, err := s.Shares(bob, "private"); err == nil {
		t.Error("bob lists the shares of ann")
	}

	enter := func(ctx context.Context, x store.Share) (context.Context, error) {
		var id identity.Identity
		var err error
		if x.Link {
			id, _, err = s.Maintenance().OpenLink(context.Background(), x.Secret)
		} else {
			id, _, err = s.OpenShare(ctx, x.ID)
		}
		return identity.With(context.Background(), id), err
	}
	for who, ctx := range map[string]context.Context{"the owner": ann, "another user": cid, "another tenant": foreign, "nobody": nobody} {
		_, err := enter(ctx, read)
		wantErr(t, "entered by "+who, err, store.ErrNotFound)
	}
	for _, wrong := range []string{"", "link-", link.Secret + "x", link.Secret[:len(link.Secret)-1] + "-", strings.ToLower(link.Secret), link.ID, "link-" + strings.Repeat("A", 43)} {
		_, _, err := s.Maintenance().OpenLink(context.Background(), wrong)
		wantErr(t, "a wrong secret", err, store.ErrNotFound)
		wantEqual(t, "words about a wrong secret", err.Error(), func() string { _, _, err := s.Maintenance().OpenLink(context.Background(), "no"); return err.Error() }())
	}

	// What a reader and a link see is the session, and nothing else.
	run := store.Run{ID: uuid.NewString(), Process: "p", MessageID: uuid.NewString()}
	must(t, s.BeginRun(ann, store.RunStart{Run: run, Session: store.Session{ID: "s"}, Messages: []*store.Message{userMessage("and again")}}))
	other := store.Run{ID: uuid.NewString(), Process: "p", MessageID: uuid.NewString()}
	must(t, s.BeginRun(ann, store.RunStart{Run: other, Session: store.Session{ID: "private"}, Messages: []*store.Message{userMessage("x")}}))
	_, err = s.WriteRun(ann, store.RunWrite{RunID: run.ID, Process: "p", Events: []store.RunEvents{{First: 1, Last: 1, Data: []byte("{}")}}})
	must(t, err)
	for name, x := range map[string]store.Share{"a reader": read, "a link": link} {
		ctx := get[context.Context](t)(enter(bob, x))
		wantEqual(t, "session of "+name, get[store.Session](t)(s.Session(ctx, "s")).UserID, "ann")
		wantEqual(t, "messages of "+name, contentsOf(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))), []string{"hello from ann", "and again"})
		wantEqual(t, "message of "+name, *get[store.Message](t)(s.Message(ctx, first.ID)).Content, "hello from ann")
		wantEqual(t, "branches of "+name, len(get[[]store.Branch](t)(s.Branches(ctx, "s"))), 1)
		wantEqual(t, "run of "+name, get[store.Run](t)(s.Run(ctx, run.ID)).ID, run.ID)
		wantEqual(t, "events of "+name, len(get[[]store.RunEvents](t)(s.RunEvents(ctx, run.ID, 0, 0))), 1)
		runs, _, err := s.Runs(ctx, store.RunFilter{})
		must(t, err)
		wantEqual(t, "runs of "+name, each(runs, func(r store.Run) string { return r.ID }), []string{run.ID})
		requests, _, err := s.Requests(ctx, store.RequestFilter{})
		must(t, err)
		wantEqual(t, "requests of "+name, len(requests), 0)

		_, noMessage := s.Message(ctx, private.ID)
		_, noSession := s.Session(ctx, "private")
		_, noRows := s.Messages(ctx, "private", store.MessageFilter{})
		_, noRun := s.Run(ctx, other.ID)
		_, noEvents := s.RunEvents(ctx, other.ID, 0, 0)
		_, noMine := s.Session(ctx, "mine")
		for what, err := range map[string]error{"message": noMessage, "session": noSession, "messages": noRows, "run": noRun, "events": noEvents, "session of others": noMine} {
			wantErr(t, "another "+what+" of "+name, err, store.ErrNotFound)
		}
		for what, err := range map[string]error{
			"a turn":     s.BeginTurn(ctx, store.Session{ID: "s"}, userMessage("x")),
			"a row":      s.Append(ctx, &store.Message{SessionID: "s", Type: store.MessageUser, Content: text("x")}),
			"a deletion": s.DeleteSession(ctx, "s"),
			"a title":    func() error { _, err := s.PatchSession(ctx, "s", store.SessionPatch{Name: text("x")}); return err }(),
			"a share":    func() error { _, err := put(ctx, store.Share{SessionID: "s", Link: true}); return err }(),
			"a stop":     func() error { _, err := s.StopRun(ctx, run.ID); return err }(),
			"a note":     s.Resources().Put(ctx, &store.Resource{Name: "n"}),
		} {
			wantErr(t, what+" of "+name, err, store.ErrForbidden)
		}
		if name == "a reader" {
			sel := get[store.Selection](t)(s.Select(ctx, "SELECT content FROM messages", store.SelectBounds{}))
			if strings.Contains(fmt.Sprint(sel.Rows), "ann") {
				t.Errorf("the SQL of a guest reads the owner's rows: %v", sel.Rows)
			}
		}
	}
	guestWrites(t, s, ann, bob, run, put, enter)

	list, next, err := s.SharedSessions(bob, 1, "")
	must(t, err)
	wantEqual(t, "shared with bob", each(list, func(x store.Session) string { return x.ID + " of " + x.Share.Owner + " " + x.Title + next }), []string{"s of ann hello from ann"})
	list, _, err = s.SharedSessions(cid, 0, "")
	must(t, err)
	wantEqual(t, "shared with cid", len(list), 0)

	// A share ends when it is withdrawn, expires, or its session is deleted.
	must(t, s.DeleteShare(ann, "s", link.ID))
	_, err = enter(bob, link)
	wantErr(t, "a withdrawn link", err, store.ErrNotFound)
	wantErr(t, "withdrawn by a stranger", s.DeleteShare(cid, "s", read.ID), store.ErrNotFound)
	must(t, s.DeleteShare(bob, "s", read.ID))
	_, err = enter(bob, read)
	wantErr(t, "a share that its guest left", err, store.ErrNotFound)
	wantErr(t, "withdrawn twice", s.DeleteShare(ann, "s", read.ID), store.ErrNotFound)
	for range 100 {
		link = get[store.Share](t)(put(ann, store.Share{SessionID: "s", Link: true}))
	}
	_, err = put(ann, store.Share{SessionID: "s", Link: true})
	wantErr(t, "too many", err, store.ErrConflict)
	must(t, s.DeleteSession(ann, "s"))
	_, err = enter(bob, link)
	wantErr(t, "the link of a deleted session", err, store.ErrNotFound)
	wantEqual(t, "bob's own", contentsOf(get[[]store.Message](t)(s.Messages(bob, "s", store.MessageFilter{}))), []string{"bob's own"})
}

// guestWrites: a writer's rows are the owner's, with the guest as their author.
func guestWrites(t *testing.T, s *store.Store, ann, bob context.Context, run store.Run,
	put func(context.Context, store.Share) (store.Share, error), enter func(context.Context, store.Share) (context.Context, error),
) {
	x := get[store.Share](t)(put(ann, store.Share{SessionID: "s", UserID: "bob", Role: store.ShareWrite}))
	guest := get[context.Context](t)(enter(bob, x))
	own := store.Run{ID: uuid.NewString(), Process: "p", MessageID: uuid.NewString(), Key: "k"}
	start := store.RunStart{Run: own, Session: store.Session{ID: "s", Name: "bob's name", Named: true}, Messages: []*store.Message{userMessage("hi from bob")}}
	after := int64(1)
	start.After = &after
	wantErr(t, "an edit by a guest", s.BeginRun(guest, start), store.ErrForbidden)
	start.After = nil
	must(t, s.BeginRun(guest, start))
	request := store.RunRequest{ID: uuid.NewString(), Kind: "approval", Message: "may I?"}
	_, err := s.WriteRun(guest, store.RunWrite{RunID: own.ID, Process: "p", Requests: []store.RunRequest{request}})
	must(t, err)
	rows := get[[]store.Message](t)(s.Messages(ann, "s", store.MessageFilter{}))
	wantEqual(t, "rows with a guest's", each(rows, func(m store.Message) string { return *m.Content + "|" + m.Author }),
		[]string{"hello from ann|", "and again|", "hi from bob|bob"})
	wantEqual(t, "run of a guest", get[store.Run](t)(s.Run(ann, own.ID)).Author, "bob")
	wantEqual(t, "by its key", get[store.Run](t)(s.RunByKey(guest, "k")).ID, own.ID)
	_, err = s.RunByKey(ann, "k")
	wantErr(t, "a guest's key by the owner", err, store.ErrNotFound)
	wantEqual(t, "name", get[store.Session](t)(s.Session(ann, "s")).Name, "")
	wantEqual(t, "the owner's profile", get[store.Recalled](t)(s.Recall(guest, store.RecallQuery{SessionID: "s", User: true})).User.ID, "")
	_, err = s.Decide(ann, request.ID, store.Decision{Status: store.RequestAccepted})
	wantErr(t, "the owner answers for the guest", err, store.ErrForbidden)
	theirs := store.RunRequest{ID: uuid.NewString(), Kind: "approval", Message: "may I?"}
	_, err = s.WriteRun(ann, store.RunWrite{RunID: run.ID, Process: "p", Requests: []store.RunRequest{theirs}})
	must(t, err)
	_, err = s.Decide(guest, theirs.ID, store.Decision{Status: store.RequestAccepted})
	wantErr(t, "the guest answers for the owner", err, store.ErrForbidden)
	decided, err := s.Decide(guest, request.ID, store.Decision{Status: store.RequestAccepted})
	must(t, err)
	wantEqual(t, "who decided", decided.DecidedBy, "bob")
	// Whoever ends a run, what it said has the run's author, and the author pays for it.
	s.Meter()
	for by, ended := range map[context.Context]string{ann: own.ID, guest: run.ID} {
		_, err = s.WriteRun(by, store.RunWrite{RunID: ended, Process: "p", Status: store.RunCancelled, Messages: []*store.Message{
			{Type: store.MessageObservation, Content: text("seen")},
		}, Answer: &store.Message{Type: store.MessageAssistant, Content: text("left"), InputTokens: map[string]int{own.ID: 7, run.ID: 30}[ended]}})
		must(t, err)
		rows := get[[]store.Message](t)(s.Messages(ann, "s", store.MessageFilter{AfterSeq: 3, Last: 2}))
		wantEqual(t, "authors of a run that another ended", each(rows, func(m store.Message) string { return m.Author }),
			map[string][]string{own.ID: {"bob", "bob"}, run.ID: {"", ""}}[ended])
	}
	for ctx, want := range map[context.Context]int64{ann: 30, bob: 7} {
		for _, x := range get[[]store.QuotaStanding](t)(s.Quotas().Standing(ctx)) {
			if x.Kind == store.QuotaUser {
				wantEqual(t, "paid by "+x.ID, x.Tokens, want)
			}
		}
	}
	wantErr(t, "a run deleted by a guest", s.DeleteRun(guest, own.ID), store.ErrForbidden)
	wantErr(t, "a session deleted by a guest", s.DeleteSession(guest, "s"), store.ErrForbidden)
	_, err = s.StopRun(guest, own.ID)
	must(t, err)
	must(t, s.PutShare(ann, &store.Share{SessionID: "s", UserID: "bob"}))
}

func contentsOf(rows []store.Message) []string {
	return each(rows, func(m store.Message) string { return *m.Content })
}

// callShares calls every method of shares.
func callShares(ctx context.Context, s *store.Store, session string, check func(error)) {
	link := store.Share{SessionID: session, Link: true}
	check(s.PutShare(ctx, &link))
	list, err := s.Shares(ctx, session)
	check(err)
	_, _, err = s.OpenShare(ctx, list[0].ID)
	if !errors.Is(err, store.ErrNotFound) {
		check(errors.Join(err, errors.New("opened a link by its id")))
	}
	_, _, err = s.SharedSessions(ctx, 1, "")
	check(err)
	check(s.DeleteShare(ctx, session, link.ID))
}

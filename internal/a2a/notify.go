package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// KindPush is the kind of the job that sends one notification.
const KindPush = "a2a-push"

// The bounds of notifications.
const (
	// lookEvery is how often changed tasks are looked for.
	lookEvery = time.Second
	// telling is how long one process may take to enqueue what it has found; after that
	// another one takes over.
	telling = 30 * time.Second
	// pushAttempts bounds the posts of one notification, over about three hours.
	pushAttempts = 6
	pushTimeout  = time.Minute
)

// pushArgs are the arguments of a job. Changed is the change that it is about.
type pushArgs struct {
	Tenant  string    `json:"tenant"`
	User    string    `json:"user,omitempty"`
	Task    string    `json:"task"`
	Hook    string    `json:"hook"`
	Changed time.Time `json:"changed"`
}

// system is the identity of work that no caller asked for.
var system = identity.Identity{TenantID: "a2a"}

// Watch enqueues a job for each webhook of a task that has changed, until ctx ends. Any
// number of processes may watch. A change is stored before it is watched for, and stays due
// until its job is stored.
func (s *Server) Watch(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for s.pushes() {
		if err := s.Tell(ctx); err != nil && ctx.Err() == nil {
			s.o.Logger.WarnContext(ctx, "webhooks of tasks wait", "error", err)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// Tell enqueues a job for each notification that is due.
func (s *Server) Tell(ctx context.Context) error {
	due, err := s.o.Hooks.DueHooks(ctx)
	if err != nil || len(due) == 0 {
		return err
	}
	// Two processes that enqueued the same change would send it twice.
	const lease = "tell webhooks"
	ctx = identity.With(ctx, system)
	mine, err := s.o.Leases.Take(ctx, lease, s.id, telling)
	if err != nil || !mine {
		return err
	}
	if due, err = s.o.Hooks.DueHooks(ctx); err == nil {
		err = s.enqueue(ctx, due)
	}
	return errors.Join(err, s.o.Leases.Release(ctx, lease, s.id))
}

func (s *Server) enqueue(ctx context.Context, due []store.DueHook) error {
	for _, h := range due {
		a := pushArgs{h.TenantID, h.UserID, h.RunID, h.ID, h.ChangedAt.UTC()}
		if _, err := s.o.Queue.Enqueue(ctx, KindPush, a, jobs.EnqueueOptions{
			UniqueKey: fmt.Sprintf("%s %s %d", h.RunID, h.ID, h.ChangedAt.UnixMicro()),
		}); err != nil {
			return err
		}
		if err := s.o.Hooks.HookTold(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// Worker sends notifications.
func (s *Server) Worker() jobs.Worker {
	return jobs.Worker{Timeout: pushTimeout, MaxAttempts: pushAttempts, Run: func(ctx context.Context, raw json.RawMessage) error {
		var a pushArgs
		if err := json.Unmarshal(raw, &a); err != nil {
			return errors.New("the arguments are not those of a push notification")
		}
		return s.push(identity.With(ctx, identity.Identity{TenantID: a.Tenant, UserID: a.User}), a)
	}}
}

// push sends one notification, unless the webhook was deleted, or the task has changed
// again: that change has a job of its own.
func (s *Server) push(ctx context.Context, a pushArgs) error {
	kept, err := s.o.Store.RunHook(ctx, a.Task, a.Hook)
	if err != nil {
		return ignoreMissing(err)
	}
	h, err := s.openHook(a.Tenant, a.Task, a.Hook, kept.Data)
	if err != nil {
		return err
	}
	turn, r, err := s.o.Chat.Open(ctx, a.Task)
	switch {
	case err != nil:
		return ignoreMissing(err)
	case !r.ChangedAt.Equal(a.Changed), r.Status == store.RunInterrupted && s.o.Resumes:
		return nil
	}
	pause, release := s.webhooks.begin(h.URL)
	if release == nil {
		return jobs.Again(pause)
	}
	defer release()
	l, err := view{Server: s, ctx: ctx, agent: exposed{name: r.AgentName}}.state(turn, r)
	if err != nil {
		return err
	}
	return s.webhooks.post(ctx, h, l.snapshot())
}

package dream

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// Due reports whether a schedule was due after last and not after now. "" never is. A
// cron expression is in UTC unless it begins with "CRON_TZ=Europe/Vienna ".
func Due(schedule string, last, now time.Time) (bool, error) {
	if schedule == "" {
		return false, nil
	}
	cron, err := jobs.ParseCron(schedule)
	if err != nil {
		return false, err
	}
	next := cron.Next(last)
	return !next.IsZero() && !next.After(now), nil
}

// The session of the system's tenant that stores the time of the last check, for every
// replica and the next process.
const (
	tickSession = "dream-schedule"
	usersPage   = 500
)

type tick struct {
	At time.Time `json:"dream_schedule_at"`
}

// schedule enqueues the dreams of the users whose tenant's schedule was due since the last
// check. One dream makes up for all missed times.
func (s *Service) schedule(ctx context.Context) error {
	system := identity.With(ctx, identity.Identity{TenantID: identity.SystemTenant})
	now := s.o.Now().UTC().Truncate(time.Microsecond)
	last, err := s.lastTick(system)
	if err != nil {
		return err
	}
	if last.IsZero() {
		return s.putTick(system, now) // the first check: nothing was due before
	}
	due, any, err := s.due(last, now)
	if err != nil || !any {
		return err
	}
	if err := s.enqueueDue(ctx, due, now); err != nil {
		return err // the retry enqueues no user twice
	}
	return s.putTick(system, now)
}

// due returns a function that reports whether a tenant's schedule was due, and whether
// any was.
func (s *Service) due(last, now time.Time) (of func(tenant string) bool, any bool, err error) {
	all, err := Due(s.o.Schedule, last, now)
	if err != nil {
		return nil, false, err
	}
	any = all
	own := make(map[string]bool, len(s.o.TenantSchedules))
	for tenant, schedule := range s.o.TenantSchedules {
		if own[tenant], err = Due(schedule, last, now); err != nil {
			return nil, false, err
		}
		any = any || own[tenant]
	}
	return func(tenant string) bool {
		if due, has := own[tenant]; has {
			return due
		}
		return all
	}, any, nil
}

// enqueueDue enqueues the dreams of every user who was active within the window.
func (s *Service) enqueueDue(ctx context.Context, due func(tenant string) bool, now time.Time) error {
	var after store.RowOwner
	var failed []error
	for {
		page, err := s.o.Store.Maintenance().ActiveUsers(ctx, now.Add(-s.o.Lookback), after, usersPage)
		if err != nil {
			return err
		}
		for _, u := range page {
			if u.TenantID == identity.SystemTenant || !due(u.TenantID) {
				continue
			}
			// Nobody has verified the user's role now: a member's rights are those that every user
			// who may dream has.
			who := identity.Identity{TenantID: u.TenantID, UserID: u.UserID, Role: identity.RoleMember}
			if who.Visitor() {
				continue
			}
			caller := identity.With(ctx, who)
			if _, err := s.Enqueue(caller, Request{Until: now}); err != nil {
				failed = append(failed, err)
			}
		}
		if len(page) < usersPage || ctx.Err() != nil || len(failed) > 0 {
			return errors.Join(append(failed, ctx.Err())...)
		}
		after = page[len(page)-1]
	}
}

func (s *Service) lastTick(ctx context.Context) (time.Time, error) {
	var t tick
	sess, err := s.o.Store.Session(ctx, tickSession)
	if err != nil || len(sess.Metadata) == 0 {
		return t.At, missing(err)
	}
	return t.At, json.Unmarshal(sess.Metadata, &t)
}

func (s *Service) putTick(ctx context.Context, at time.Time) error {
	metadata, err := json.Marshal(tick{at})
	if err != nil {
		return err
	}
	return s.o.Store.PutSession(ctx, store.Session{ID: tickSession, Mode: store.ModeSchedule, Metadata: metadata})
}

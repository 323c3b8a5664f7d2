package dream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

func at(t testing.TB, text string) time.Time {
	t.Helper()
	x, err := time.Parse("2006-01-02 15:04:05", text)
	must(t, err)
	return x
}

func TestDue(t *testing.T) {
	for _, tc := range []struct {
		schedule, last, now string
		want                bool
	}{
		{"", "2026-02-20 00:00:00", "2026-02-27 00:00:00", false},
		{"0 3 * * *", "2026-02-20 02:58:59", "2026-02-20 02:59:59", false},
		{"0 3 * * *", "2026-02-20 02:59:59", "2026-02-20 03:00:00", true},
		{"0 3 * * *", "2026-02-20 03:00:00", "2026-02-20 03:01:00", false},
		{"0 3 * * *", "2026-02-20 02:59:59", "2026-02-20 03:00:59", true},
		// A process that was down makes up for a missed dream.
		{"0 3 * * *", "2026-02-18 04:00:00", "2026-02-20 12:00:00", true},
		{"0 3 * * 1", "2026-02-19 00:00:00", "2026-02-20 12:00:00", false},
		// Vienna is one hour ahead in winter, two in summer.
		{"CRON_TZ=Europe/Vienna 0 3 * * *", "2026-02-20 01:59:00", "2026-02-20 02:00:00", true},
		{"CRON_TZ=Europe/Vienna 0 3 * * *", "2026-02-20 02:59:00", "2026-02-20 03:00:00", false},
		{"CRON_TZ=Europe/Vienna 0 3 * * *", "2026-07-20 00:59:00", "2026-07-20 01:00:00", true},
		{"CRON_TZ=Asia/Kolkata 30 3 * * *", "2026-02-20 21:59:00", "2026-02-20 22:00:00", true},
		{"CRON_TZ=America/New_York 0 0 * * *", "2026-02-20 04:59:00", "2026-02-20 05:00:00", true},
	} {
		got, err := dream.Due(tc.schedule, at(t, tc.last), at(t, tc.now))
		if err != nil || got != tc.want {
			t.Errorf("%s from %s to %s: %v, %v", tc.schedule, tc.last, tc.now, got, err)
		}
	}
	if _, err := dream.Due("at night", time.Now(), time.Now()); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}

// line is a queue that keeps its jobs.
type line struct {
	orders []string
	keys   []string
	args   []any
	err    error
}

func (l *line) Enqueue(_ context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error) {
	if l.err != nil {
		return jobs.Receipt{}, l.err
	}
	var x struct {
		Tenant, User string
		Until        time.Time
	}
	raw, err := json.Marshal(args)
	if err == nil {
		err = json.Unmarshal(raw, &x)
	}
	l.orders = append(l.orders, fmt.Sprint(kind, " ", x.Tenant, "/", x.User, " ", x.Until.Format("02 15:04")))
	l.keys, l.args = append(l.keys, o.UniqueKey), append(l.args, raw)
	return jobs.Receipt{ID: int64(len(l.orders))}, err
}

// TestSchedule: each user of a tenant whose schedule is due gets one dream, also if another
// process checks, or the first check failed.
func TestSchedule(t *testing.T) {
	k := onSQLite(t)
	in := func(tenant, user string) context.Context {
		return identity.With(t.Context(), identity.Identity{TenantID: tenant, UserID: user})
	}
	for _, ctx := range []context.Context{in("acme", "ann"), in("acme", "bob"), in("acme", ""), in("beta", "cyd"), in("gamma", "dan"), in(identity.SystemTenant, "eve")} {
		must(t, k.store.Moments().Put(ctx, &store.Moment{Name: "A day"}))
	}
	today := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	now := today
	q := &line{}
	k.options = dream.Options{
		Queue: q, Schedule: "0 3 * * *", TenantSchedules: map[string]string{"beta": "CRON_TZ=Europe/Vienna 0 1 * * *", "gamma": ""},
		Now: func() time.Time { return now }, Lookback: 72 * time.Hour,
	}
	k.process()
	look := func(hours float64) error {
		t.Helper()
		now = today.Add(time.Duration(hours * float64(time.Hour)))
		q.orders, q.keys = nil, nil
		return k.Workers()[dream.KindSchedule].Run(t.Context(), []byte("{}"))
	}
	day := today.Format("02")
	acme := []string{"dream acme/ " + day + " 03:00", "dream acme/ann " + day + " 03:00", "dream acme/bob " + day + " 03:00"}

	must(t, look(1.5))
	if len(q.orders) != 0 {
		t.Errorf("the first look: %q", q.orders)
	}
	must(t, look(2.9))
	if len(q.orders) != 0 {
		t.Errorf("too early: %q", q.orders)
	}
	q.err = errors.New("down")
	if err := look(3); err == nil {
		t.Error("nobody is told")
	}
	q.err = nil
	k.process() // another process
	must(t, look(3))
	if !slices.Equal(q.orders, acme) || q.keys[0] == q.keys[1] || q.keys[1] == q.keys[2] || q.keys[0] == "" {
		t.Errorf("%q %q", q.orders, q.keys)
	}
	must(t, look(3))
	must(t, look(20))
	if len(q.orders) != 0 {
		t.Errorf("twice: %q", q.orders)
	}
	// Some time within the next day it is one o'clock in Vienna, and three in UTC.
	must(t, look(44))
	var who []string
	for _, o := range q.orders {
		who = append(who, strings.Fields(o)[1])
	}
	if want := []string{"acme/", "acme/ann", "acme/bob", "beta/cyd"}; !slices.Equal(who, want) {
		t.Errorf("%q", q.orders)
	}
}

// busy is a chat whose sessions have turns under way.
type busy struct{ dream.Chat }

func (busy) Start(context.Context, chat.Request) (*chat.Turn, error) {
	return nil, fmt.Errorf("a turn: %w", chat.ErrBusy)
}

// TestJobs: a job dreams the window that was enqueued, for the user who enqueued it.
func TestJobs(t *testing.T) {
	q := &line{}
	k := onSQLite(t)
	k.options.Queue = q
	k.process(answer("late-trains", "project-alpha"), profile("Ann."))
	ann := as(t.Context(), "ann")
	k.live(ann)
	receipt, err := k.Enqueue(ann, dream.Request{Lookback: time.Hour})
	if must(t, err); receipt.ID != 1 {
		t.Errorf("%+v", receipt)
	}
	args := q.args[0].([]byte)
	if s := string(args); !strings.Contains(s, `"tenant":"acme","user":"ann","name":"ANN","lookback":3600000000000,"until":"`) {
		t.Errorf("%s", s)
	}
	work := k.Workers()[dream.Kind].Run
	must(t, work(t.Context(), args))
	must(t, work(t.Context(), args)) // a job may run twice
	k.model.AssertDone(t)
	if got := k.kept(ann); !slices.Equal(got, []string{"Late Trains"}) {
		t.Errorf("%q", got)
	}
	// Neither a run that another process resumes nor a server that stops makes the job
	// fail.
	k.say(ann, "talk-ann", "And now?", "Now, too.")
	later := strings.Replace(string(args), `"until":"`+time.Now().UTC().Format("2006"), `"until":"9999`, 1)
	o := k.optionsOf()
	o.Chat = busy{}
	beside, err := dream.New(o)
	must(t, err)
	if _, again := jobs.AgainAfter(beside.Workers()[dream.Kind].Run(t.Context(), []byte(later))); !again {
		t.Error("a dream whose session has a turn under way")
	}
	must(t, k.chat.Close(t.Context()))
	if _, again := jobs.AgainAfter(work(t.Context(), []byte(later))); !again {
		t.Error("a dream of a service that is closed")
	}
	held, err := k.store.Leases().Take(ann, "dream", "another process", time.Minute)
	if must(t, err); !held {
		t.Fatal("the lease was not given back")
	}
	if err := work(t.Context(), args); err == nil || !strings.Contains(err.Error(), "nooze") {
		t.Errorf("busy: %v", err)
	}
	if err := work(t.Context(), []byte("[")); err == nil {
		t.Error("arguments that are none")
	}
	if _, err := dream.New(dream.Options{}); err == nil {
		t.Error("without a store")
	}
	o = k.optionsOf()
	o.TenantSchedules = map[string]string{"acme": "never"}
	if _, err := dream.New(o); err == nil || !strings.Contains(err.Error(), `"acme"`) {
		t.Error(err)
	}
}

package reminder

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// The bounds of a reminder's texts, in characters.
const (
	maxName        = 200
	maxDescription = 4000
	maxTags        = 50
	maxTag         = 100
	// maxKept bounds the pending reminders of a user.
	maxKept = 500
)

// clean trims and checks a request.
func (r Request) clean() (Request, error) {
	r.Name = strings.Join(strings.Fields(r.Name), " ")
	r.Description = strings.TrimSpace(r.Description)
	switch {
	case r.Name == "" || utf8.RuneCountInString(r.Name) > maxName || strings.ContainsFunc(r.Name, hidden):
		return r, problem("name", "give a name of 1 to %d printable characters", maxName)
	case r.Description == "" || utf8.RuneCountInString(r.Description) > maxDescription || !utf8.ValidString(r.Description):
		return r, problem("description", "say in 1 to %d characters what to be reminded of", maxDescription)
	case len(r.Tags) > maxTags:
		return r, problem("tags", "there are %d tags; at most %d are kept", len(r.Tags), maxTags)
	}
	tags := r.Tags
	r.Tags = nil
	for _, tag := range tags {
		tag = strings.TrimSpace(tag)
		if utf8.RuneCountInString(tag) > maxTag || strings.ContainsFunc(tag, hidden) {
			return r, problem("tags", "a tag has at most %d printable characters", maxTag)
		}
		if tag != "" && !slices.Contains(r.Tags, tag) {
			r.Tags = append(r.Tags, tag)
		}
	}
	return r, nil
}

func hidden(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// Remind stores a reminder of the caller. The error for a wrong request is a
// *ProblemError.
func (s *Service) Remind(ctx context.Context, req Request) (Reminder, error) {
	if s == nil {
		return Reminder{}, ErrNotKept
	}
	id, err := store.Writer(ctx) // before a job is stored
	if err != nil {
		return Reminder{}, err
	}
	if m, err := s.keptBefore(ctx, req.Key); m != nil || err != nil {
		return reminderOr(m, err)
	}
	if req, err = req.clean(); err != nil {
		return Reminder{}, err
	}
	zone, err := s.zone(ctx, req.Zone)
	if err != nil {
		return Reminder{}, err
	}
	p, err := readWhen(req.When, zone, s.now())
	if err != nil {
		return Reminder{}, err
	}
	kept, err := s.moments.Count(ctx, active())
	if err != nil {
		return Reminder{}, err
	}
	if kept >= maxKept {
		return Reminder{}, problem("name", "%d reminders are kept already: delete some first", maxKept)
	}
	const tries = 3 // two reminders of one name may get the same short id
	for range tries {
		m, e := newMoment(req, p, id.SessionID)
		if e != nil {
			return Reminder{}, e
		}
		// A job without its reminder does nothing; a reminder without a job would
		// never fire.
		if err = s.enqueue(ctx, m.ID, p.first); err != nil {
			return Reminder{}, err
		}
		if err = s.moments.PutWith(ctx, store.PutOptions{}, m); err == nil {
			return reminderOf(*m)
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return Reminder{}, err
}

// keptBefore returns the reminder of an earlier request with the key, nil for none.
func (s *Service) keptBefore(ctx context.Context, key string) (*store.Moment, error) {
	if key == "" {
		return nil, nil
	}
	m, err := s.moments.Get(ctx, keyID(key).String())
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return &m, err
}

// reminderOr returns the reminder of a moment, or the error.
func reminderOr(m *store.Moment, err error) (Reminder, error) {
	if err != nil {
		return Reminder{}, err
	}
	return reminderOf(*m)
}

// keyID returns the id of the reminder of a request with a key.
func keyID(key string) uuid.UUID { return uuid.NewSHA1(uuid.NameSpaceOID, []byte("reminder\x00"+key)) }

// newMoment returns the moment that stores a reminder.
func newMoment(req Request, p plan, session string) (*store.Moment, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	if req.Key != "" {
		id = keyID(req.Key)
	}
	d := details{
		ReminderID: id.String(), Title: req.Name, Zone: zoneName(p.first),
		Recurrence: Once, Schedule: p.first.Format(time.RFC3339), Frequency: once(p.first),
	}
	if p.schedule != nil {
		d.Recurrence, d.Schedule, d.Frequency = Recurring, p.schedule.expression, frequency(p.schedule.expression)
	}
	metadata, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	m := &store.Moment{
		Name: fmt.Sprintf("reminder-%s-%s", req.Name, d.ReminderID[:8]), MomentType: typeReminder, Summary: req.Description,
		StartsAt: p.first.UTC(), TopicTags: req.Tags, Category: category, SourceSessionID: session,
	}
	m.ID, m.Metadata, m.GraphEdges = d.ReminderID, metadata, edges(session)
	return m, nil
}

// args are those of a job.
type args struct {
	Tenant   string    `json:"tenant"`
	User     string    `json:"user,omitempty"`
	Reminder string    `json:"reminder_id"`
	Due      time.Time `json:"due"`
}

// enqueue schedules a reminder; the same reminder at the same time is queued once.
func (s *Service) enqueue(ctx context.Context, reminder string, due time.Time) error {
	id, err := identity.From(ctx)
	if err != nil {
		return err
	}
	due = due.UTC()
	_, err = s.queue.Enqueue(ctx, Kind, args{id.TenantID, id.UserID, reminder, due}, jobs.EnqueueOptions{
		RunAt: due, UniqueKey: reminder + " " + due.Format(compact),
	})
	return err
}

// ListFilter chooses reminders.
type ListFilter struct {
	// CreatedOn and DueOn are days ("2026-02-21") of the caller's time zone, "" any.
	CreatedOn, DueOn string
	// Limit is 50 when 0, 500 at most.
	Limit int
}

// active matches pending reminders: those that fired for good have an end.
func active() store.Filter {
	return store.Filter{Equal: map[string]any{"moment_type": typeReminder, "ends_timestamp": nil}, Own: true, Limit: 2 * maxKept}
}

// List returns the caller's pending reminders, the next one first.
func (s *Service) List(ctx context.Context, f ListFilter) ([]Reminder, error) {
	if s == nil {
		return nil, ErrNotKept
	}
	zone, err := s.zone(ctx, "")
	if err != nil {
		return nil, err
	}
	filter := active()
	if filter.Since, filter.Before, err = day("created_on", f.CreatedOn, zone); err != nil {
		return nil, err
	}
	since, before, err := day("due_on", f.DueOn, zone)
	if err != nil {
		return nil, err
	}
	rows, _, err := s.moments.Find(ctx, filter)
	if err != nil {
		return nil, err
	}
	list := []Reminder{}
	for _, m := range rows {
		if !since.IsZero() && (m.StartsAt.Before(since) || !m.StartsAt.Before(before)) {
			continue
		}
		// Another program's moment of this type is not a reminder.
		if r, err := reminderOf(m); err == nil && r.Recurrence != "" {
			list = append(list, r)
		}
	}
	arrange.By(list, func(a, b Reminder) int { return a.Next.Compare(b.Next) })
	return list[:min(len(list), cmp.Or(max(0, min(f.Limit, maxKept)), 50))], nil
}

// day returns the beginning of a day and of the next one, zero for "".
func day(field, text string, zone *time.Location) (since, before time.Time, err error) {
	if text == "" {
		return since, before, nil
	}
	wall, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return since, before, problem(field, "%.32q is no day: write it as 2026-02-21", text)
	}
	zone = cmp.Or(zone, time.UTC)
	return instant(wall, zone), instant(wall.AddDate(0, 0, 1), zone), nil
}

// Delete deletes a reminder of the caller, by its id or its moment's. Its job then
// does nothing.
func (s *Service) Delete(ctx context.Context, id string) error {
	if s == nil {
		return ErrNotKept
	}
	gone := fmt.Errorf("reminder %.64q: %w", id, store.ErrNotFound)
	if _, err := uuid.Parse(id); err != nil {
		if _, missing := identity.From(ctx); missing != nil {
			return missing
		}
		return gone
	}
	m, err := s.moments.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && m.MomentType != typeReminder {
		return gone
	}
	if err != nil {
		return err
	}
	return s.moments.Delete(ctx, m.ID)
}

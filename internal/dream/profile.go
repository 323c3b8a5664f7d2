package dream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/store"
)

// learned is the answer of the third phase's agent.
type learned struct {
	Content   string   `json:"content"`
	Interests []string `json:"interests"`
	Topics    []string `json:"preferred_topics"`
}

// learn is the third phase: it updates the profile. Its failure is reported in the
// result; the dreams stay.
func (d *dream) learn(ctx context.Context, m *material) error {
	if d.who.Anonymous() {
		d.Profile.Status = StatusSkippedUser
		return nil
	}
	user, err := d.o.Store.Users().Get(ctx)
	if missing(err) != nil {
		return err
	}
	r, _, err := d.turn(ctx, AgentUserModel, d.window.input(toLearn), m.instruction(d.window, profileText(&user)), func(result chat.Result, r *record) error {
		var said learned
		if json.Unmarshal(result.Output, &said) != nil {
			return &failed{"the answer is no profile"}
		}
		r.Keys, err = d.update(ctx, store.UserChange{Content: strings.TrimSpace(said.Content), Interests: said.Interests, Topics: said.Topics})
		if errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrNotFound) {
			return &failed{"the profile could not be kept: " + err.Error()}
		}
		return err
	})
	d.IOTokens += r.IOTokens
	var why *failed
	switch {
	case err == nil:
		d.Profile.Status, d.Profile.Updated = StatusCompleted, r.Keys
	case errors.As(err, &why) && ctx.Err() == nil:
		d.Profile.Status, d.Profile.Error = StatusFailed, why.message
		d.o.Logger.WarnContext(ctx, "a profile could not be brought up to date", "error", why)
	default:
		return err
	}
	return nil
}

// learnTopics is the third phase without a model: it adds the topics of the new
// moments.
func (d *dream) learnTopics(ctx context.Context, topics []string) (err error) {
	d.Profile.Status = StatusSkippedModel
	if d.who.Anonymous() {
		d.Profile.Status = StatusSkippedUser
	}
	if len(topics) == 0 || d.who.Anonymous() {
		return nil
	}
	d.Profile.Updated, err = d.update(ctx, store.UserChange{Topics: topics})
	if err == nil && len(d.Profile.Updated) > 0 {
		d.Profile.Status = StatusCompleted
	}
	return err
}

// update changes the profile and returns the names of the changed fields.
func (d *dream) update(ctx context.Context, c store.UserChange) (changed []string, err error) {
	before, err := d.o.Store.Users().Get(ctx)
	if missing(err) != nil {
		return nil, err
	}
	after, err := d.o.Store.Users().Update(ctx, c)
	if err != nil {
		return nil, err
	}
	if before.Content != after.Content {
		changed = append(changed, "content")
	}
	if !slices.Equal(before.Interests, after.Interests) {
		changed = append(changed, "interests")
	}
	if !slices.Equal(before.Topics, after.Topics) {
		changed = append(changed, "preferred_topics")
	}
	return changed, nil
}

// profileText returns the present profile as part of the material.
func profileText(u *store.User) string {
	text := "## Present profile\n"
	for _, line := range [][2]string{
		{"Content: ", u.Content}, {"Interests: ", strings.Join(u.Interests, ", ")}, {"Topics: ", strings.Join(u.Topics, ", ")},
	} {
		text += "\n" + line[0] + short(line[1], maxMomentText)
	}
	return text
}

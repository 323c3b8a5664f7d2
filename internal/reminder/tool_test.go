package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/tool"
)

// call calls a tool as a run does.
func call(t *testing.T, w *world, ctx context.Context, name, args string) (map[string]any, error) {
	t.Helper()
	tools, err := w.Tools()
	must(t, err)
	i := slices.IndexFunc(tools, func(x tool.Tool) bool { return x.Spec().Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	if err := tool.Validate(t.Context(), tools[i], json.RawMessage(args)); err != nil {
		return nil, err
	}
	res, err := tools[i].Call(ctx, tool.Call{ID: "c1", Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		return nil, err
	}
	var out map[string]any
	must(t, json.Unmarshal([]byte(res.Content), &out))
	return out, nil
}

func TestTools(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	got, err := call(t, w, ctx, "remind_me", `{"name":"water","description":"it's time; DROP TABLE 'moments'--","crontab":"0 9 * * *","tags":["garden"],"timezone":"Europe/Vienna"}`)
	must(t, err)
	id, _ := got["reminder_id"].(string)
	if d := cmp.Diff(map[string]any{
		"status": "success", "reminder_id": id, "moment_id": id, "name": "water", "frequency": "Daily at 09:00",
		"recurrence": "recurring", "next_fire": "2026-03-03T09:00:00+01:00", "timezone": "Europe/Vienna",
	}, got); d != "" {
		t.Error(d)
	}
	got, err = call(t, w, ctx, "list_reminders", `{}`)
	must(t, err)
	if d := cmp.Diff(map[string]any{"status": "success", "count": 1.0, "reminders": []any{map[string]any{
		"reminder_id": id, "name": "water", "description": "it's time; DROP TABLE 'moments'--", "frequency": "Daily at 09:00",
		"next_fire": "2026-03-03T09:00:00+01:00", "timezone": "Europe/Vienna",
	}}}, got); d != "" {
		t.Error(d)
	}
	w.goTo(start.Add(26 * time.Hour))
	if n := w.notes(ctx); len(n) != 1 || n[0].Description != "it's time; DROP TABLE 'moments'--" {
		t.Errorf("%+v", n)
	}
	got, err = call(t, w, ctx, "delete_reminder", `{"reminder_id":"`+id+`"}`)
	if err != nil || got["status"] != "success" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = call(t, w, ctx, "list_reminders", `{"due_on":"2026-03-04","limit":5}`); err != nil || len(got["reminders"].([]any)) != 0 {
		t.Errorf("%v, %v", got, err)
	}

	for args, says := range map[string]string{
		`{"name":"water","description":"x","crontab":"2026-03-01T10:00"}`:             "crontab: 2026-03-01T10:00:00Z is past, it is 2026-03-03T10:00:00Z now: give a time to come",
		`{"name":"water","description":"x","crontab":"at nine"}`:                      "crontab: \"at nine\" is neither a time nor a cron expression",
		`{"name":"water","description":"x","crontab":"@daily","timezone":"the moon"}`: `timezone: there is no time zone "the moon"`,
		`{"name":"water","description":" ","crontab":"@daily"}`:                       "description: say in 1 to 4000 characters",
		`{"name":"water","description":"x","crontab":"@daily","user_id":"bob"}`:       "user_id",
		`{"name":"water","description":"x"}`:                                          "crontab",
	} {
		if _, err := call(t, w, ctx, "remind_me", args); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", args, err, says)
		} else if known := (*tool.Error)(nil); !errors.As(err, &known) {
			t.Errorf("%s: %T is not for a model", args, err)
		}
	}
	if _, err := call(t, w, ctx, "delete_reminder", `{"reminder_id":"`+id+`"}`); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("deleted twice: %v", err)
	}

	tools, err := w.Tools()
	must(t, err)
	var names []string
	for _, x := range tools {
		names = append(names, x.Spec().Name)
	}
	if slices.Sort(names); !slices.Equal(names, Names()) {
		t.Errorf("%v, want %v", names, Names())
	}
}

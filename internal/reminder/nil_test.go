package reminder_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/tool"
)

// The tools of a nil Service exist and report that nothing is stored.
func TestToolsOfNothing(t *testing.T) {
	tools, err := (*reminder.Service)(nil).Tools()
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"remind_me":      `{"name":"n","description":"d","crontab":"0 9 * * *"}`,
		"list_reminders": `{"limit":20}`, "delete_reminder": `{"reminder_id":"x"}`,
	} {
		for _, x := range tools {
			if x.Spec().Name != name {
				continue
			}
			_, err := x.Call(t.Context(), tool.Call{ID: "1", Name: name, Arguments: json.RawMessage(args)})
			var said *tool.Error
			if !errors.As(err, &said) || said.Message != reminder.ErrNotKept.Error() {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

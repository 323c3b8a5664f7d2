package a2a_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/a2a"
)

// TestTCK has the mandatory checks of the protocol's own test kit (a2aproject/a2a-tck, in
// Python), in its names and with its demands, for the version 1.0 over JSON-RPC. What p8
// does not pass is in docs/rough_edges.md. The kit continues, cancels and lists tasks that
// its agent leaves open, as general does after "wait".
func TestTCK(t *testing.T) {
	w := newWorld(t)
	open := w.begun("wait", `,"contextId":"open"`+atOnce)
	for i := range 60 {
		w.begun(fmt.Sprint("task ", i), `,"contextId":"sixty"`)
	}
	w.begun("one", `,"contextId":"three"`)
	w.begun("two", `,"contextId":"three"`)
	w.begun("three", `,"contextId":"three"`)
	rpc := func(body string) string {
		got := w.as("ann", "POST", "/a2a/general", body)
		if got.Code != 200 {
			return fmt.Sprint("status ", got.Code)
		}
		return got.Body.String()
	}
	code := func(body string) string {
		var r reply
		if err := json.Unmarshal([]byte(rpc(body)), &r); err != nil {
			return err.Error()
		}
		return fmt.Sprint(r.Error.Code)
	}
	call := func(method, params string) string {
		return code(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	}
	list := func(params string) aList { return get[aList](t, w.call("ListTasks", params)) }
	pages := func(l aList) string {
		return fmt.Sprint(len(l.Tasks), " of ", l.TotalSize, " pageSize ", l.PageSize, " more ", *l.NextPageToken != "")
	}
	var card map[string]any
	if err := json.Unmarshal(w.as("ann", "GET", a2a.CardPath, "").Body.Bytes(), &card); err != nil {
		t.Fatal(err)
	}
	for _, check := range []struct {
		name, want string
		got        func() string
	}{
		{"test_rejects_malformed_json", "-32700", func() string { return code(`{"jsonrpc": "2.0", "method": "SendMessage", "params": {"foo": "bar"}`) }},
		{"test_rejects_invalid_json_rpc_requests: version", "-32600", func() string { return code(`{"jsonrpc":"aaa","method":"SendMessage","params":{}}`) }},
		{"test_rejects_invalid_json_rpc_requests: no method", "-32600", func() string { return code(`{"jsonrpc":"2.0","params":{}}`) }},
		{"test_rejects_invalid_json_rpc_requests: method", "-32601", func() string { return call("SendMessageXXX", `{}`) }},
		{"test_rejects_invalid_json_rpc_requests: id", "-32600", func() string {
			return code(`{"jsonrpc":"2.0","method":"SendMessage","params":{},"id":{"bad":"type"}}`)
		}},
		{"test_rejects_invalid_json_rpc_requests: params", "-32602", func() string { return call("SendMessage", `{"":"not_a_dict"}`) }},
		{"test_rejects_unknown_method", "-32601", func() string { return call("nonexistent/method", `{}`) }},
		{"test_rejects_invalid_params", "-32602", func() string { return call("SendMessage", `{"message":null}`) }},
		{"test_duplicate_request_ids", "0 0", func() string { return call("ListTasks", `{}`) + " " + call("ListTasks", `{}`) }},
		{"test_message_send_valid_text", "TASK_STATE_COMPLETED", func() string { return w.begun("hello", "").Status.State }},
		{"test_message_send_invalid_params", "-32602", func() string { return call("SendMessage", `{"message":{"kind":"message"}}`) }},
		{"test_message_send_valid_data_part", "0", func() string {
			return call("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"key":"value"}}]}}`)
		}},
		{"test_message_send_valid_file_part", "0", func() string {
			return call("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"see"},{"raw":"aGk=","filename":"a.txt","mediaType":"text/plain"}]}}`)
		}},
		{"test_content_type_not_supported_error_32005", "-32005", func() string {
			return call("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"aGk=","mediaType":"application/x-unsupported"}]}}`)
		}},
		{"test_message_send_continue_task", open.ID, func() string {
			return get[struct{ Task aTask }](t, w.call("SendMessage", sendParams("more", fmt.Sprintf(`,"taskId":%q`, open.ID)+atOnce))).Task.ID
		}},
		{"test_task_history_length", "2 of 3", func() string {
			w.call("SendMessage", sendParams("and more", fmt.Sprintf(`,"taskId":%q`, open.ID)+atOnce))
			whole := get[aTask](t, w.call("GetTask", `{"id":"`+open.ID+`"}`))
			limited := get[aTask](t, w.call("GetTask", `{"id":"`+open.ID+`","historyLength":2}`))
			return fmt.Sprint(len(limited.History), " of ", len(whole.History))
		}},
		{"test_tasks_get_valid", open.ID, func() string { return get[aTask](t, w.call("GetTask", `{"id":"`+open.ID+`"}`)).ID }},
		{"test_tasks_get_nonexistent", "-32001", func() string { return call("GetTask", `{"id":"nonexistent-task-id"}`) }},
		{"test_tasks_cancel_nonexistent", "-32001", func() string { return call("CancelTask", `{"id":"nonexistent-task-id"}`) }},
		{"test_list_all_tasks", "true", func() string { return fmt.Sprint(list(`{}`).TotalSize >= 64) }},
		{"test_list_tasks_empty_when_none_exist", "0 of 0 pageSize 0 more false", func() string { return pages(list(`{"contextId":"none"}`)) }},
		{"test_list_tasks_sorted_by_timestamp_descending", "true", func() string {
			tasks := list(`{"pageSize":100}`).Tasks
			for i := 1; i < len(tasks); i++ {
				if tasks[i].Status.Timestamp > tasks[i-1].Status.Timestamp {
					return "false"
				}
			}
			return "true"
		}},
		{"test_filter_by_context_id", "3 of 3 pageSize 3 more false", func() string { return pages(list(`{"contextId":"three"}`)) }},
		{"test_filter_by_status", "[" + open.ID + "]", func() string { return fmt.Sprint(list(`{"status":"TASK_STATE_WORKING"}`).ids()) }},
		{"test_filter_by_last_updated_after", "true", func() string {
			return fmt.Sprint(list(`{"statusTimestampAfter":"`+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)+`"}`).TotalSize >= 64)
		}},
		{"test_combined_filters", "1 of 1 pageSize 1 more false", func() string { return pages(list(`{"contextId":"open","status":"TASK_STATE_WORKING"}`)) }},
		{"test_default_page_size_is_50", "50 of 60 pageSize 50 more true", func() string { return pages(list(`{"contextId":"sixty"}`)) }},
		{"test_custom_page_size", "2 of 3 pageSize 2 more true", func() string { return pages(list(`{"contextId":"three","pageSize":2}`)) }},
		{"test_page_token_navigation", "1 of 3 pageSize 1 more false", func() string {
			first := list(`{"contextId":"three","pageSize":2}`)
			second := list(`{"contextId":"three","pageSize":2,"pageToken":"` + *first.NextPageToken + `"}`)
			if strings.Contains(fmt.Sprint(first.ids()), second.ids()[0]) {
				return "a task is on two pages"
			}
			return pages(second)
		}},
		{"test_last_page_detection", "3 of 3 pageSize 3 more false", func() string { return pages(list(`{"contextId":"three","pageSize":10}`)) }},
		{"test_history_length_zero", "true", func() string {
			return fmt.Sprint(list(`{"contextId":"three","historyLength":0}`).Tasks[0].History == nil)
		}},
		{"test_history_length_custom", "true", func() string {
			return fmt.Sprint(len(list(`{"contextId":"open","historyLength":3}`).Tasks[0].History) <= 3)
		}},
		{"test_history_length_exceeds_actual", "1", func() string {
			return fmt.Sprint(len(list(`{"contextId":"three","historyLength":1000}`).Tasks[0].History))
		}},
		{"test_artifacts_excluded_by_default", "0", func() string { return fmt.Sprint(len(list(`{"contextId":"three"}`).Tasks[0].Artifacts)) }},
		{"test_artifacts_included_when_requested", "1", func() string {
			return fmt.Sprint(len(list(`{"contextId":"three","includeArtifacts":true}`).Tasks[0].Artifacts))
		}},
		{"test_invalid_page_token_error", "-32602", func() string { return call("ListTasks", `{"pageToken":"invalid-token-that-does-not-exist"}`) }},
		{"test_invalid_status_error", "-32602", func() string { return call("ListTasks", `{"status":"INVALID_STATUS"}`) }},
		{"test_negative_page_size_error", "-32602", func() string { return call("ListTasks", `{"pageSize":-1}`) }},
		{"test_zero_page_size_error", "-32602", func() string { return call("ListTasks", `{"pageSize":0}`) }},
		{"test_out_of_range_page_size_error", "-32602", func() string { return call("ListTasks", `{"pageSize":101}`) }},
		{"test_negative_history_length_error", "-32602", func() string { return call("ListTasks", `{"historyLength":-1}`) }},
		{"test_invalid_timestamp_error", "-32602", func() string { return call("ListTasks", `{"statusTimestampAfter":"-1"}`) }},
		{"test_create_task_push_notification_config", "https://example.com/webhook", func() string {
			return get[map[string]string](t, w.call("CreateTaskPushNotificationConfig", `{"taskId":"`+open.ID+`","id":"c","url":"https://example.com/webhook"}`))["url"]
		}},
		{"test_get_push_notification_config", "https://example.com/webhook", func() string {
			return get[map[string]string](t, w.call("GetTaskPushNotificationConfig", `{"taskId":"`+open.ID+`","id":"c"}`))["url"]
		}},
		{"test_create_task_push_notification_config_nonexistent", "-32001", func() string {
			return call("CreateTaskPushNotificationConfig", `{"taskId":"non-existent","url":"https://example.com/webhook"}`)
		}},
		{"test_get_push_notification_config_nonexistent", "-32001", func() string {
			return call("GetTaskPushNotificationConfig", `{"taskId":"`+open.ID+`","id":"none"}`)
		}},
		{"test_list_push_notification_config", "1", func() string {
			return fmt.Sprint(len(get[struct{ Configs []any }](t, w.call("ListTaskPushNotificationConfigs", `{"taskId":"`+open.ID+`"}`)).Configs))
		}},
		{"test_delete_push_notification_config", "0 -32001", func() string {
			gone := call("DeleteTaskPushNotificationConfig", `{"taskId":"`+open.ID+`","id":"c"}`)
			return gone + " " + call("GetTaskPushNotificationConfig", `{"taskId":"`+open.ID+`","id":"c"}`)
		}},
		{"test_tasks_subscribe_nonexistent", "-32001", func() string { return call("SubscribeToTask", `{"id":"nonexistent"}`) }},
		{"test_tasks_cancel_valid", "TASK_STATE_CANCELED", func() string {
			return get[aTask](t, w.call("CancelTask", `{"id":"`+open.ID+`"}`)).Status.State
		}},
		{"TaskNotCancelableError", "-32002", func() string { return call("CancelTask", `{"id":"`+open.ID+`"}`) }},
		{"UnsupportedOperationError: subscribe to an ended task", "-32004", func() string { return call("SubscribeToTask", `{"id":"`+open.ID+`"}`) }},
		{"UnsupportedOperationError: message to an ended task", "-32004", func() string {
			return call("SendMessage", sendParams("more", fmt.Sprintf(`,"taskId":%q`, open.ID)))
		}},
		{"UnsupportedOperationError: no extended card", "-32004", func() string { return call("GetExtendedAgentCard", `{}`) }},
		{"test_agent_card_mandatory_fields", "", func() string {
			for _, field := range []string{"name", "description", "version", "capabilities", "defaultInputModes", "defaultOutputModes", "skills", "supportedInterfaces"} {
				if card[field] == nil {
					return "no " + field
				}
			}
			return ""
		}},
		{"test_agent_card_capabilities_mandatory", "true true", func() string {
			c := card["capabilities"].(map[string]any)
			return fmt.Sprint(c["streaming"], " ", c["pushNotifications"])
		}},
		{"test_agent_card_skills_mandatory", "", func() string {
			for _, field := range []string{"id", "name", "description", "tags"} {
				if card["skills"].([]any)[0].(map[string]any)[field] == nil {
					return "no " + field
				}
			}
			return ""
		}},
	} {
		if got := check.got(); got != check.want {
			t.Errorf("%s: %s, want %s", check.name, got, check.want)
		}
	}
}

// The header A2A-Version, or the parameter of that name, says which version the client
// speaks.
func TestVersions(t *testing.T) {
	w := newWorld(t)
	for version, want := range map[string]int{
		"": 0, "1.0": 0, "1": 0, "1.0.3": 0, "0.3": 0, "0.3.0": 0, "0.4": -32009, "1.7": -32009, "2.0": -32009, "99.0": -32009, "x": -32009, "1.": -32009,
	} {
		for path, headers := range map[string][]string{"/a2a/general": {"A2A-Version", version}, "/a2a/general?A2A-Version=" + version: nil} {
			var r reply
			got := w.as("ann", "POST", path, `{"jsonrpc":"2.0","id":1,"method":"ListTasks"}`, headers...)
			if err := json.Unmarshal(got.Body.Bytes(), &r); err != nil || r.Error.Code != want {
				t.Errorf("%q in %s: %+v, %v", version, path, r.Error, err)
			}
		}
	}
}

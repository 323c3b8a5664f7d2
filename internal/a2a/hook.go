package a2a

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/store"
)

// hook is a push notification config: the webhook of a task.
type hook struct {
	TaskID         string   `json:"taskId,omitempty"`
	ID             string   `json:"id,omitempty"`
	URL            string   `json:"url"`
	Token          string   `json:"token,omitempty"`
	Authentication *hookKey `json:"authentication,omitempty"`
}

// hookKey is the credential by which a webhook recognises this server.
type hookKey struct {
	Scheme      string `json:"scheme,omitempty"`
	Credentials string `json:"credentials,omitempty"`
}

// oldHook is a hook of version 0.3, which lists several schemes.
type oldHook struct {
	ID             string      `json:"id,omitempty"`
	URL            string      `json:"url"`
	Token          string      `json:"token,omitempty"`
	Authentication *oldHookKey `json:"authentication,omitempty"`
}

type oldHookKey struct {
	Schemes     []string `json:"schemes"`
	Credentials string   `json:"credentials,omitempty"`
}

// storedHook is a hook as p8 keeps it, sealed.
type storedHook struct {
	URL         string `json:"url"`
	Token       string `json:"token,omitempty"`
	Scheme      string `json:"scheme,omitempty"`
	Credentials string `json:"credentials,omitempty"`
	// Old is true if the client is of version 0.3.
	Old bool `json:"old,omitempty"`
}

// hookParams are the parameters of all methods about hooks. In version 0.3, id is the
// task and pushNotificationConfigId the hook; in 1.0 they are taskId and id.
type hookParams struct {
	hook
	OldID  string   `json:"pushNotificationConfigId"`
	Config *oldHook `json:"pushNotificationConfig"`
}

// names returns the ids of the task and of the hook.
func (x *exchange) names(p *hookParams) (task, id string) {
	if x.old {
		return p.ID, p.OldID
	}
	return p.TaskID, p.ID
}

// The bounds of a hook's texts, in bytes.
const (
	maxHookURL    = 2048
	maxHookSecret = 4096
	maxHookID     = 128
)

// checkHook returns a hook of a request as the store has it, with its id, which may be "".
func (x *exchange) checkHook(h *hook, old *oldHook) (id string, s storedHook, err error) {
	if !x.pushes() {
		return "", s, errNoPush
	}
	switch {
	case h != nil:
		id, s = h.ID, storedHook{URL: h.URL, Token: h.Token}
		if k := h.Authentication; k != nil {
			s.Scheme, s.Credentials = k.Scheme, k.Credentials
		}
	case old != nil:
		id, s = old.ID, storedHook{URL: old.URL, Token: old.Token}
		if k := old.Authentication; k != nil {
			s.Scheme, s.Credentials = strings.Join(k.Schemes[:min(1, len(k.Schemes))], ""), k.Credentials
		}
	default:
		return "", s, wrong("params.pushNotificationConfig is missing")
	}
	s.Old = x.old
	switch err := outbound.CheckURL(s.URL, x.o.PrivateHooks); {
	case len(s.URL) > maxHookURL:
		return "", s, wrong("the url of a push notification has more than 2048 bytes")
	case err != nil:
		return "", s, wrong("the url of a push notification " + err.Error())
	case len(id) > maxHookID || !visible(id):
		return "", s, wrong("the id of a push notification config has 1 to 128 letters, digits and signs")
	case max(len(s.Token), len(s.Credentials), len(s.Scheme)) > maxHookSecret || !visible(s.Token) || !visible(s.Credentials) || !visible(strings.TrimSpace(s.Scheme)):
		return "", s, wrong("the token, the scheme and the credentials of a push notification go into headers: letters, digits and signs, at most 4096")
	case s.Credentials != "" && s.Scheme == "":
		return "", s, wrong("the credentials of a push notification need a scheme, such as Bearer")
	}
	return id, s, nil
}

// visible reports whether a text has only visible characters of ASCII and single spaces
// between them, as the value of a header has.
func visible(s string) bool {
	return s == strings.TrimSpace(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// putHook stores a hook of a task. If now is set, the webhook also gets the current
// state.
func (x *exchange) putHook(task, id string, s storedHook, now bool) error {
	by, err := identity.From(x.ctx)
	if err != nil {
		return err
	}
	data, err := x.sealHook(by.TenantID, task, id, s)
	if err != nil {
		return err
	}
	err = x.o.Store.PutRunHook(x.ctx, store.RunHook{RunID: task, ID: id, Data: data}, now)
	if errors.Is(err, store.ErrConflict) {
		return wrong("the task has ten push notification configs already; delete one first")
	}
	return err
}

// askedHook is the hook that a message asks for.
type askedHook struct {
	id   string
	hook storedHook
}

// asks returns the hook that a message asks for, nil for none.
func (x *exchange) asks(p *sendParams) (*askedHook, error) {
	c := &p.Configuration
	if c.Hook == nil && c.OldHook == nil {
		return nil, nil
	}
	id, s, err := x.checkHook(c.Hook, c.OldHook)
	return &askedHook{id, s}, err
}

// keep stores the hook of a message for its task. A hook without an id replaces the last
// one, because clients send it with every message.
func (x *exchange) keep(task string, h *askedHook) error {
	if h == nil {
		return nil
	}
	return x.putHook(task, cmp.Or(h.id, task), h.hook, true)
}

// errNoPush means that this server cannot send notifications.
var errNoPush = errors.New("a2a: no push notifications")

// pushes reports whether notifications are sent.
func (s *Server) pushes() bool { return s.o.Store != nil && s.o.Queue != nil }

// hookCall reads the parameters of a method about the hooks of a task, and finds the task.
func (x *exchange) hookCall(raw json.RawMessage, p *hookParams) (task, id string, err error) {
	if !x.pushes() {
		return "", "", errNoPush
	}
	if err := params(raw, p); err != nil {
		return "", "", err
	}
	if task, id = x.names(p); x.old && p.Config != nil {
		task = p.TaskID
	}
	_, _, err = x.find(task)
	return task, id, err
}

// setHook answers CreateTaskPushNotificationConfig.
func (x *exchange) setHook(raw json.RawMessage) error {
	var p hookParams
	task, _, err := x.hookCall(raw, &p)
	if err != nil {
		return err
	}
	h := &p.hook
	if x.old {
		h = nil
	}
	id, s, err := x.checkHook(h, p.Config)
	switch {
	case err != nil:
		return err
	case id == "" && x.old:
		id = task // setting it again replaces it
	case id == "":
		id = x.o.NewID()
	}
	if err := x.putHook(task, id, s, false); err != nil {
		return err
	}
	return x.answer(x.shownHook(task, id, s))
}

// shownHook returns a hook for its owner, without its secrets.
func (x *exchange) shownHook(task, id string, s storedHook) any {
	if x.old {
		h := oldHook{ID: id, URL: s.URL}
		if s.Scheme != "" {
			h.Authentication = &oldHookKey{Schemes: []string{s.Scheme}}
		}
		return object{"taskId": task, "pushNotificationConfig": h}
	}
	h := hook{TaskID: task, ID: id, URL: s.URL}
	if s.Scheme != "" {
		h.Authentication = &hookKey{Scheme: s.Scheme}
	}
	return h
}

// hooks returns the hooks of a task as its owner sees them, and their ids.
func (x *exchange) hooks(task string) (shown []any, ids []string, err error) {
	by, err := identity.From(x.ctx)
	if err != nil {
		return nil, nil, err
	}
	list, err := x.o.Store.RunHooks(x.ctx, task)
	if err != nil {
		return nil, nil, err
	}
	shown = make([]any, len(list))
	for i, h := range list {
		s, err := x.openHook(by.TenantID, task, h.ID, h.Data)
		if err != nil {
			return nil, nil, err
		}
		shown[i], ids = x.shownHook(task, h.ID, s), append(ids, h.ID)
	}
	return shown, ids, nil
}

// getHook answers GetTaskPushNotificationConfig. In version 0.3 a request without the id of the
// hook means the first one.
func (x *exchange) getHook(raw json.RawMessage) error {
	var p hookParams
	task, id, err := x.hookCall(raw, &p)
	if err != nil {
		return err
	}
	shown, ids, err := x.hooks(task)
	if err != nil {
		return err
	}
	for i := range shown {
		if ids[i] == id || id == "" && x.old {
			return x.answer(shown[i])
		}
	}
	return fail(codeTaskNotFound, "TASK_NOT_FOUND", "the task has no such push notification config")
}

// listHooks answers ListTaskPushNotificationConfigs. There are so few that one page has all.
func (x *exchange) listHooks(raw json.RawMessage) error {
	var p hookParams
	task, _, err := x.hookCall(raw, &p)
	if err != nil {
		return err
	}
	shown, _, err := x.hooks(task)
	if err != nil {
		return err
	}
	if x.old {
		return x.answer(shown)
	}
	return x.answer(object{"configs": shown})
}

// deleteHook answers DeleteTaskPushNotificationConfig.
func (x *exchange) deleteHook(raw json.RawMessage) error {
	var p hookParams
	task, id, err := x.hookCall(raw, &p)
	if err != nil {
		return err
	}
	if id == "" {
		return wrong("the id of the push notification config is missing")
	}
	if err := x.o.Store.DeleteRunHook(x.ctx, task, id); err != nil {
		return err
	}
	if x.old {
		return x.answer(null)
	}
	return x.answer(object{})
}

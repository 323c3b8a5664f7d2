package chats

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// The sizes of a page of input items.
const (
	defaultItems = 20
	mostItems    = 100
)

// inputItem is an item of the input of a response.
type inputItem struct {
	ID      string      `json:"id"`
	Type    string      `json:"type"`
	Status  string      `json:"status"`
	Role    string      `json:"role,omitempty"`
	Content []inputPart `json:"content,omitempty"`
	CallID  string      `json:"call_id,omitempty"`
	Output  *string     `json:"output,omitempty"`
}

type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`
	FileName string `json:"filename,omitempty"`
}

// inputItems serves GET /responses/{id}/input_items: what this response was asked, not what
// the session had before.
func (h *handlers) inputItems(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	turn, run, _, err := h.openResponse(r)
	if err != nil {
		return 0, nil, err
	}
	var all []inputItem
	if turn.Past > 0 {
		all, err = outputsOf(ctx, turn, &run)
	} else if h.o.Store != nil && run.InReplyTo != "" {
		var row store.Message
		if row, err = h.o.Store.Message(ctx, run.InReplyTo); err == nil {
			all, err = itemsOf(&row)
		}
	}
	if err != nil {
		return 0, nil, h.api.About(ctx, "response", err)
	}
	page, p := pageOf(all, r.URL.Query())
	if p != nil {
		return 0, nil, p
	}
	return http.StatusOK, page, nil
}

// itemsOf returns the message of the user.
func itemsOf(row *store.Message) ([]inputItem, error) {
	it := inputItem{ID: "msg_" + row.ID, Type: "message", Status: "completed", Role: "user", Content: []inputPart{}}
	if row.Content != nil && *row.Content != "" {
		it.Content = append(it.Content, inputPart{Type: "input_text", Text: *row.Content})
	}
	var parts []llm.Part
	if len(row.Parts) > 0 {
		if err := json.Unmarshal(row.Parts, &parts); err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		one := inputPart{Type: "input_file", FileName: part.Name}
		if part.Kind == llm.Image {
			one = inputPart{Type: "input_image", ImageURL: part.URL, Detail: part.Detail}
		}
		it.Content = append(it.Content, one)
	}
	return []inputItem{it}, nil
}

// outputsOf returns the outputs of the client's tools with which a later part of a run
// began.
func outputsOf(ctx context.Context, turn *chat.Turn, run *store.Run) (all []inputItem, _ error) {
	waits := map[string]bool{}
	for ev, err := range soFar(ctx, turn, run) {
		if err != nil {
			return nil, err
		}
		d, ok := ev.Data.(*event.ToolCallData)
		switch {
		case !ok:
		case d.Client && d.Status == event.ToolExecuting && ev.Seq <= turn.Past:
			waits[d.ID] = true
		case ev.Seq > turn.Past && waits[d.ID] && (d.Status == event.ToolCompleted || d.Status == event.ToolFailed):
			output := d.ErrorMessage
			if len(d.Result) > 0 {
				output = string(d.Result)
				_ = json.Unmarshal(d.Result, &output) // other JSON than a text stays as it is
			}
			delete(waits, d.ID)
			all = append(all, inputItem{ID: "fco_" + d.MessageID, Type: "function_call_output", Status: "completed", CallID: d.ID, Output: &output})
		}
	}
	return all, nil
}

// itemPage is a page of items in OpenAI's form.
type itemPage struct {
	Object  string      `json:"object"`
	Data    []inputItem `json:"data"`
	FirstID *string     `json:"first_id"`
	LastID  *string     `json:"last_id"`
	HasMore bool        `json:"has_more"`
}

// pageOf returns the page that the parameters limit, after and order ask for.
func pageOf(all []inputItem, q url.Values) (*itemPage, *problem.Problem) {
	limit := defaultItems
	if value := q.Get("limit"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > mostItems {
			return nil, problem.Invalid("limit", "limit is %q; it goes from 1 to %d", web.Cut(value), mostItems)
		}
		limit = n
	}
	switch order := q.Get("order"); order {
	case "asc":
	case "", "desc":
		slices.Reverse(all)
	default:
		return nil, problem.Invalid("order", "order is %q; it is asc or desc", web.Cut(order))
	}
	if after := q.Get("after"); after != "" {
		i := slices.IndexFunc(all, func(it inputItem) bool { return it.ID == after })
		if i < 0 {
			return nil, problem.Invalid("after", "the response has no input item %q", web.Cut(after))
		}
		all = all[i+1:]
	}
	page := &itemPage{Object: "list", Data: all[:min(limit, len(all))], HasMore: len(all) > limit}
	if page.Data == nil {
		page.Data = []inputItem{}
	}
	if n := len(page.Data); n > 0 {
		page.FirstID, page.LastID = &page.Data[0].ID, &page.Data[n-1].ID
	}
	return page, nil
}

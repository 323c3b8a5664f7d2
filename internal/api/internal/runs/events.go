package runs

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// The sizes of a page of events.
const (
	defaultEvents = 200
	maxEvents     = 1000
)

// pageTime bounds the reading of a page: a page does not wait for the run.
const pageTime = 2 * time.Second

// events is GET /runs/{id}/events: a stream, or a page for Accept: application/json.
func (h *handlers) events(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	v, p := NewView(r)
	var limit int
	if p == nil {
		limit, p = pageSize(r)
	}
	if p != nil {
		return 0, nil, p
	}
	turn, run, err := h.o.Chat.Open(ctx, r.PathValue("id"))
	if err != nil {
		return 0, nil, h.api.About(ctx, "run", err)
	}
	if !web.Accepts(r, "application/json") || web.Accepts(r, "text/event-stream") {
		if v.Protocol == "" {
			v.Protocol = stream.ProtocolEvents
		}
		v.newest = run.LastSeq
		h.streamer.Stream(w, r, turn, v)
		return 0, nil, nil
	}
	page, last, err := readPage(ctx, turn, &run, v.seen, limit)
	if err != nil {
		return 0, nil, h.api.About(ctx, "run", err)
	}
	if last < run.LastSeq && len(page) == limit {
		w.Header().Set("Link", rest.NextPage(rest.Query("after", strconv.FormatInt(last, 10), "limit", strconv.Itoa(limit))))
	}
	return http.StatusOK, page, nil
}

func pageSize(r *http.Request) (int, *problem.Problem) {
	value := r.URL.Query().Get("limit")
	if value == "" {
		return defaultEvents, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxEvents {
		return 0, problem.Invalid("limit", "limit is %q; it goes from 1 to %d", web.Cut(value), maxEvents)
	}
	return n, nil
}

// readPage returns up to limit events after the one with the number after, and the
// number of the last one that was read.
func readPage(ctx context.Context, turn *chat.Turn, run *store.Run, after int64, limit int) (page []event.Event, last int64, err error) {
	page = make([]event.Event, 0, min(limit, 64))
	if last = after; last >= run.LastSeq {
		return page, last, nil
	}
	reading, stop := context.WithTimeout(ctx, pageTime)
	defer stop()
	for ev, err := range turn.EventsAfter(reading, after) {
		if err != nil {
			if reading.Err() != nil && ctx.Err() == nil {
				break // the run goes on and has no more events for now
			}
			return nil, last, err
		}
		if page = append(page, ev); ev.Seq > 0 {
			last = ev.Seq
		}
		if len(page) == limit || last >= run.LastSeq {
			break
		}
	}
	return page, last, nil
}

package chat

import "github.com/p8-org/p8/event"

// sayLimit says in words that a limit ended the run: as the last paragraph of the answer,
// which every protocol shows. An answer that the model may not continue has its own reason
// in every protocol, and a warning.
func (r *recorder) sayLimit(cause error) {
	done, _ := r.reason(cause)
	if done.Reason != event.ReasonLength || len(done.Output) > 0 || r.scripted() {
		return
	}
	if done.Limit == event.LimitAnswer || done.Limit == "" {
		r.writer.Append(r.own(&event.WarningData{Code: event.CodeAnswerCut, Message: "the answer is as long as the model may write one (max_tokens), and ends here"}))
		return
	}
	e := event.Event{Type: event.Text, RunID: r.rows.RunID, Agent: r.rows.Agent, Text: limitText(done.Limit)}
	if r.text.Size() > 0 {
		e.Text = "\n\n" + e.Text
	}
	r.text.Add(&e)
	r.writer.Append(e)
}

// limitText returns the last paragraph of an answer that ends at a limit.
func limitText(limit string) string { return "[This answer ends early: " + limitWords(limit) + ".]" }

func limitWords(limit string) string {
	switch limit {
	case event.LimitRequests:
		return "the run has made all the requests to the model that it may make (request_limit)"
	case event.LimitToolCalls:
		return "the run has made all the tool calls that it may make (tool_calls_limit)"
	case event.LimitInputTokens, event.LimitOutputTokens, event.LimitTotalTokens:
		return "the run has used all the tokens that it may use (" + limit + ")"
	case event.LimitTime:
		return "the time of the run is over (time_limit)"
	case event.LimitEvents:
		return "it is as long as an answer may be (event_limit)"
	case event.LimitTokensQuota:
		return "all tokens that may be used today are used (tokens_quota); the next day begins at 00:00 UTC"
	case event.LimitCostQuota:
		return "all the money that may be spent today is spent (cost_quota); the next day begins at 00:00 UTC"
	case event.LimitMemory:
		return "the server is short of memory (memory_limit)"
	}
	return "a limit was reached (" + limit + ")"
}

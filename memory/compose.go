package memory

import (
	"math"
	"slices"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// headShare is the divisor of the budget for the memory row and the moments.
const headShare = 3

// Compose makes the messages for a model from stored rows: the memory row, the moments,
// then the newest messages that fit the budget. It does not change rec.
func Compose(rec *store.Recalled, p Policy) Context {
	c := newComposer(rec, p)
	c.fill(0) // the newest, whatever it costs
	var head []item
	for {
		room, tokens := math.MaxInt, 0
		if p.Budget > 0 {
			room = max(0, min(p.Budget/headShare, p.Budget-c.tokens))
		}
		head = c.head(room)
		for i := range head {
			tokens += head[i].tokens
		}
		if p.Budget > 0 {
			c.fill(max(1, p.Budget-tokens))
		} else {
			c.fill(math.MaxInt)
		}
		// Without a moment whose messages are shown anyway, there may be room for more rows.
		if !slices.ContainsFunc(head, func(it item) bool { return it.kind == PartMoment && c.shown(it.first) }) {
			break
		}
	}
	for i := range slices.Backward(head) {
		c.add(&head[i])
	}
	slices.Reverse(c.out)
	slices.Reverse(c.parts)
	return Context{Messages: c.out, Parts: c.parts, Tokens: c.tokens, More: rec.More || c.waiting}
}

// composer takes rows from the newest to the oldest.
type composer struct {
	p       Policy
	rows    []store.Message
	memory  *store.Message
	moments []view
	chunks  []view
	whole   int // the first row that stays as it is
	left    int // bytes of images and documents

	at      int    // the rows from here on were taken
	steps   []item // of the tool rows that were taken, those that are not shown yet
	next    item   // that did not fit, when waiting
	waiting bool

	out    []llm.Message // the newest first
	parts  []Part
	tokens int
	// wholeSince is the first row of those that are shown whole without a gap up to the newest;
	// broken is true if an older row was shortened or left out.
	wholeSince int64
	broken     bool
	more       bool
	crumb      *view // of the last message, if it is a breadcrumb
}

// item is the shown form of a row, or of several.
type item struct {
	kind, key   string
	first, last int64
	tokens      int
	whole       bool
	crumb       *view // that a breadcrumb leads to
	message     llm.Message
	step        []llm.Message // instead of message
}

func newComposer(rec *store.Recalled, p Policy) *composer {
	c := &composer{
		p: p, rows: rec.Messages, memory: rec.Memory, whole: wholeFrom(rec.Messages, &p), left: maxReplayed,
		at: len(rec.Messages), wholeSince: math.MaxInt64, more: rec.More,
		out: make([]llm.Message, 0, len(rec.Messages)), parts: make([]Part, 0, len(rec.Messages)),
	}
	for i := range slices.Backward(rec.Messages) {
		if row := &rec.Messages[i]; row.Type == store.MessageMemory && row.AgentPath == "" && text(row) != "" {
			c.memory = row
			break
		}
	}
	if p.Moments > 0 {
		c.moments = views(rec.Moments[max(0, len(rec.Moments)-p.Moments):])
	}
	if p.Breadcrumbs {
		c.chunks = slices.DeleteFunc(views(rec.Covering), func(v view) bool { return v.First <= 0 || v.Last < v.First })
	}
	return c
}

// fill adds rows as long as all of them take no more than most tokens; the newest in
// any case.
func (c *composer) fill(most int) {
	for {
		if !c.waiting {
			if c.waiting = c.take(&c.next); !c.waiting {
				break
			}
		}
		joins := c.next.crumb != nil && c.next.crumb == c.crumb
		if len(c.parts) > 0 && !joins && c.tokens+c.next.tokens > most {
			return
		}
		c.waiting = false
		if joins {
			c.parts[len(c.parts)-1].First = c.next.first
			continue
		}
		c.add(&c.next)
		if c.broken = c.broken || !c.next.whole; !c.broken {
			c.wholeSince = c.next.first
		}
	}
	if !c.broken && !c.more {
		c.wholeSince = 0
	}
}

// shown reports whether all rows from this one on are shown whole.
func (c *composer) shown(first int64) bool { return first > 0 && first >= c.wholeSince }

func (c *composer) add(it *item) {
	n := 1
	if it.step != nil {
		n = len(it.step)
		for i := range slices.Backward(it.step) {
			c.out = append(c.out, it.step[i])
		}
	} else {
		c.out = append(c.out, it.message)
	}
	c.parts = append(c.parts, Part{Kind: it.kind, Key: it.key, First: it.first, Last: it.last, Messages: n, Tokens: it.tokens})
	c.tokens += it.tokens
	c.crumb = it.crumb
}

// take returns the shown form of the newest rows that were not taken yet.
func (c *composer) take(it *item) bool {
	if n := len(c.steps); n > 0 {
		*it, c.steps = c.steps[n-1], c.steps[:n-1]
		it.key = keyOf(c.rows[c.at].SessionID, it.first)
		return true
	}
	for c.at > 0 {
		c.at--
		row := &c.rows[c.at]
		switch {
		case !c.p.shows(row), row.Type == store.MessageObservation && c.p.replaysObservation(c.rows, c.at):
		case isTool(row):
			start := c.p.blockStart(c.rows, c.at)
			c.steps = c.p.replay(c.rows[start : c.at+1])
			c.at = start
			return c.take(it)
		default:
			*it = c.plain(row, c.at >= c.whole)
			return true
		}
	}
	return false
}

// plain returns the shown form of a row that is neither a call nor a result.
func (c *composer) plain(row *store.Message, recent bool) item {
	it := item{
		kind: PartMessage, key: keyOf(row.SessionID, row.Seq), first: row.Seq, last: row.Seq, whole: true,
		tokens: store.MessageTokens, message: llm.Message{Role: llm.System, Content: text(row)},
	}
	switch row.Type {
	case store.MessageUser:
		with := recent && len(row.Parts) <= c.left
		if with {
			c.left -= len(row.Parts)
		}
		it.message = userMessage(row, text(row), with)
		if len(it.message.Parts) == 0 && hasParts(row) {
			it.tokens += c.p.estimate(it.message.Content)
			return it
		}
		if row.TokenCount == 0 {
			it.tokens += PartTokens * len(it.message.Parts)
		}
	case store.MessageObservation:
		it.kind = PartObservation
		it.message = llm.Message{Role: llm.User, Content: observationPrefix + text(row)}
		it.tokens += c.p.estimate(observationPrefix)
	case store.MessageAssistant:
		it.message.Role = llm.Assistant
		if !recent && c.shorten(&it, row) {
			return it
		}
	}
	it.tokens += c.p.tokens(row)
	return it
}

const observationPrefix = "[Observation] "

// shorten makes a breadcrumb of an answer, or cuts it, where that is shorter.
func (c *composer) shorten(it *item, row *store.Message) bool {
	whole := it.message.Content
	if v := covering(c.chunks, row.Seq); v != nil && len(v.breadcrumb()) < len(whole) {
		it.kind, it.key, it.crumb = PartBreadcrumb, v.key, v
		it.message.Content = v.breadcrumb()
	} else if c.p.Hints {
		it.message.Content = Shorten(whole, row.SessionID, row.Seq)
		it.kind = PartShortened
	}
	if len(it.message.Content) == len(whole) {
		it.kind = PartMessage
		return false
	}
	it.whole = false
	it.tokens += c.p.estimate(it.message.Content)
	return true
}

// keyOf returns the key with which LOOKUP finds a row, "" for a row that is not stored.
func keyOf(sessionID string, seq int64) string {
	if seq <= 0 {
		return ""
	}
	return rem.MessageKey(sessionID, seq)
}

package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/fence"
)

// turn is the part of the conversation since the user's last message.
type turn struct {
	question
	rounds  int      // of searching
	asked   []string // queries
	rows    []row    // the rows found, each key once, best first
	failure string   // why a search failed
	manual  bool     // the agent may read p8's manual
}

// row is one search result.
type row struct {
	key, kind, summary, content string
	score                       float64
}

// Bounds of a search.
const (
	maxRounds  = 4 // of searching for one message
	maxRead    = 3 // rows that are read in full
	maxApart   = 3 // words that are searched for one by one
	inManual   = " FROM manual"
	fuzzyLimit = 8
	threshold  = "0.2"
)

// readTurn reads the conversation from the last user message on.
func readTurn(messages []llm.Message) turn {
	var t turn
	last := len(messages) - 1
	for last >= 0 && messages[last].Role != llm.User {
		last--
	}
	if last < 0 {
		return t
	}
	t.question = readQuestion(fence.Unfenced(messages[last].Content))
	for _, m := range messages[last+1:] {
		if len(m.ToolCalls) > 0 {
			t.rounds++
		}
		for _, c := range m.ToolCalls {
			var arguments struct{ Query string }
			if json.Unmarshal([]byte(c.Arguments), &arguments) == nil {
				t.asked = append(t.asked, arguments.Query)
			}
		}
		if m.Role == llm.ToolRole {
			t.readResult(m.Content)
		}
	}
	arrange.By(t.rows, func(a, b row) int { return cmp.Compare(t.promise(b), t.promise(a)) })
	return t
}

// next returns the queries to ask next; none if it is time to answer. First it asks for
// the names in the message and its words; if no row is about them, it asks p8's manual, if
// the agent may; if nothing is found, it asks for each word; then it reads the rows that
// were found by similarity in full.
func (t *turn) next() []string {
	var queries []string
	unread := t.unread()
	switch {
	case t.rounds >= maxRounds:
	case t.query != "":
		queries = []string{t.query}
	case len(t.words) == 0 && len(t.keys) == 0:
	case len(t.asked) == 0:
		if len(t.keys) > 0 {
			queries = append(queries, lookup(t.keys))
		}
		if len(t.words) > 0 {
			queries = append(queries, fuzzy(strings.Join(t.words, " ")))
		}
	case t.manual && len(t.words) > 0 && !t.inManual() && (slices.Contains(t.words, "p8") || !t.strong()):
		queries = []string{fuzzy(strings.Join(t.words, " ")) + inManual}
	case len(unread) > 0:
		queries = []string{lookup(unread)}
	case len(t.rows) == 0 && len(t.words) > 1:
		words := slices.Clone(t.words)
		arrange.By(words, func(a, b string) int { return len(b) - len(a) })
		for _, w := range words[:min(maxApart, len(words))] {
			queries = append(queries, fuzzy(w))
		}
	}
	// No query is asked twice.
	return slices.DeleteFunc(queries, func(q string) bool { return slices.Contains(t.asked, q) })
}

// inManual reports whether the manual was asked.
func (t *turn) inManual() bool {
	return slices.ContainsFunc(t.asked, func(q string) bool { return strings.HasSuffix(q, inManual) })
}

// strong reports whether a row has more than half of the message's words.
func (t *turn) strong() bool {
	return slices.ContainsFunc(t.rows, func(r row) bool { return 2*t.shared(r) > len(stems(t.words)) })
}

// unread returns the keys of the rows that are worth reading; none if a row was read
// already.
func (t *turn) unread() []string {
	var keys []string
	for _, r := range t.rows {
		if r.content != "" {
			return nil
		}
		if len(keys) < maxRead && isKey(r.key) && t.promise(r) > 0 {
			keys = append(keys, r.key)
		}
	}
	return keys
}

// promise estimates from its key and summary how relevant a row is. A row that is
// similar without sharing a word (it may be misspelt) scores low, and so does an agent
// document.
func (t *turn) promise(r row) float64 {
	n := r.score + float64(t.shared(r))
	if strings.HasPrefix(r.kind, "schema") && !slices.Contains(t.keys, r.key) {
		n /= 4
	}
	return n
}

// shared counts the message's words that a row has in its key and summary.
func (t *turn) shared(r row) (n int) {
	have := stems(wordsOf(r.key + " " + r.summary))
	for w := range stems(t.words) {
		if have[w] {
			n++
		}
	}
	return n
}

func lookup(keys []string) string {
	if len(keys) == 1 {
		return "LOOKUP " + quoted(keys[0])
	}
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = quoted(k)
	}
	return "LOOKUP [" + strings.Join(list, ", ") + "]"
}

func quoted(key string) string {
	if strings.Contains(key, " ") {
		return `"` + key + `"`
	}
	return key
}

// fuzzy quotes the text, so that no word of it is read as an option.
func fuzzy(text string) string {
	return `FUZZY "` + text + `" THRESHOLD ` + threshold + " LIMIT " + strconv.Itoa(fuzzyLimit)
}

// readResult reads the search tool's result: {"status","results":[{"key",
// "entity_type","similarity_score","summary","data":{"content",…}}]}, or one
// row or a list of them under "result".
func (t *turn) readResult(content string) {
	var answer struct {
		Status  string
		Error   string
		Results json.RawMessage
		Result  json.RawMessage
	}
	if json.Unmarshal([]byte(content), &answer) != nil || answer.Status == "error" {
		t.failure = cut(strings.TrimSpace(answer.Error), 300)
		if t.failure == "" {
			t.failure = "it gave no reason."
		}
		return
	}
	raw := answer.Results
	if len(raw) == 0 {
		raw = answer.Result
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, raw := range list {
		if r, ok := readRow(raw); ok {
			t.add(r)
		}
	}
}

func readRow(raw json.RawMessage) (row, bool) {
	var r struct {
		Key        string
		EntityType string  `json:"entity_type"`
		Score      float64 `json:"similarity_score"`
		Summary    string
		Content    string
		Data       json.RawMessage
	}
	if json.Unmarshal(raw, &r) != nil {
		return row{}, false
	}
	var data struct{ Key, Name, Content, Description, Summary string }
	// A field of an odd type must not hide the others, so the error is ignored.
	_ = json.Unmarshal(r.Data, &data)
	out := row{
		key: first(r.Key, data.Key, data.Name), kind: r.EntityType, score: r.Score,
		summary: first(r.Summary, data.Summary), content: first(data.Content, r.Content, data.Description),
	}
	return out, out.key != "" && first(out.content, out.summary) != ""
}

// add keeps one row for each key, the longer one.
func (t *turn) add(r row) {
	i := slices.IndexFunc(t.rows, func(have row) bool { return have.key == r.key })
	switch {
	case i < 0:
		t.rows = append(t.rows, r)
	case t.rows[i].content == "":
		t.rows[i].content = r.content
		t.rows[i].score = max(t.rows[i].score, r.score)
	}
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

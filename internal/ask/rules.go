package ask

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// rules read plain English questions without a language model: a name, a misspelt
// name, a subject, a relation, a date or a count. They answer a question only if they
// recognise all of it: a wrong query is worse than no query.
type rules struct {
	engine Engine
	when   calendar
}

// The confidences of the rules.
const (
	exact   = 1.0
	plain   = 0.9
	likely  = 0.75
	unsure  = 0.5
	nothing = 0.2
)

// propose makes a query from a question.
func (r rules) propose(ctx context.Context, question string) (proposal, error) {
	if query, ok := written(question); ok {
		return proposal{Query: query, Confidence: exact}, nil
	}
	if p, err := r.spelt(ctx, strings.TrimSpace(question)); err != nil || p.Confidence > 0 {
		return p, err
	}
	w := newWords(question).asked()
	if w.len() == 0 {
		return cannot("the question has no words"), nil
	}
	if _, writes := w.begins("delete|remove|drop|erase|forget|update|change|rename|create|insert|add|save|store|upload|import|draft|write|compose|send|translate|summarise|summarize|remind|schedule|book"); writes {
		return r.unless(ctx, w, "it asks to do something; a query only reads")
	}
	if _, talk := w.begins("hello|hi|hey|good morning|good evening|good night|thanks|thank you|bye|goodbye|yes|no|ok|okay|great|cool"); talk {
		return r.unless(ctx, w, "it is small talk")
	}
	for _, rule := range []func(context.Context, words) (proposal, error){r.count, r.connected, r.dated, r.subject, r.named, r.asksOf} {
		p, err := rule(ctx, w)
		if err != nil || p.Confidence > 0 {
			return p, err
		}
	}
	return cannot("no name, subject, relation or date was recognised in it"), nil
}

// cannot is a proposal that does not run.
func cannot(reason string) proposal {
	return proposal{Confidence: nothing, Reasoning: "Without a language model only plain questions are understood, and here " + reason + "."}
}

// unless is cannot, unless the words as they stand are a name: "store guide".
func (r rules) unless(ctx context.Context, w words, reason string) (proposal, error) {
	keys, err := r.keysOf(ctx, w)
	if err != nil || keys[0] == "" {
		return cannot(reason), err
	}
	return proposal{Query: rem.Lookup{Keys: keys}.String(), Confidence: exact}, nil
}

// count reads "how many messages today".
func (r rules) count(_ context.Context, w words) (proposal, error) {
	rest, ok := w.begins("how many|count|number of|the number of|what is the number of|count how many")
	if !ok {
		return proposal{}, nil
	}
	return r.list(rest, "COUNT(*) AS count"), nil
}

// dated reads questions with a time: "meetings last week", "what happened yesterday",
// and "the latest files".
func (r rules) dated(_ context.Context, w words) (proposal, error) {
	_, _, _, ok := r.when.find(w.low)
	if _, _, latest := w.cut("latest|newest|most recent|recent"); !ok && !latest {
		return proposal{}, nil
	}
	return r.list(w, ""), nil
}

// list returns SQL on the table of the noun in w, within the time in w; columns "" are
// the noun's. Unknown words lower the confidence.
func (r rules) list(w words, columns string) proposal {
	when, start, end, timed := r.when.find(w.low)
	if timed {
		w = w.without(start, end)
	}
	about, subject, hasSubject := w.cut("about|on|regarding|concerning|that mention|which mention|mentioning")
	if hasSubject {
		w = about
	}
	kind, mine, rest := nounIn(w)
	if wrote := slices.ContainsFunc(w.low, isWriting); wrote && kind.table == "" && hasSubject {
		kind, _ = nounOf("note")
	}
	if kind.table == "" {
		if _, happened := w.begins("what happened|what has happened|anything happened|what is happening|what was going on"); !happened {
			return cannot("it is not clear of which kind the rows should be")
		}
		kind, _ = nounOf("moment")
		rest = words{}
	}
	if rest.len() > 0 {
		return cannot(fmt.Sprintf("it is not clear what %q asks for", rest.text()))
	}
	if !r.has(kind.table, kind.time) {
		return cannot("there is no table " + kind.table)
	}
	switch {
	case hasSubject && columns != "":
		return cannot("rows that are about something can be found, but not counted")
	case hasSubject:
		return searchFor(subject, kind, when, 0)
	}
	where := all(kind.only, mine, when.where(kind.time))
	query := "SQL SELECT " + columns
	if columns == "" {
		query += kind.columns
	}
	query += " FROM " + kind.table
	if where != "" {
		query += " WHERE " + where
	}
	if columns == "" {
		query += " ORDER BY " + kind.time + " DESC LIMIT 20"
	}
	return proposal{Query: query, Confidence: plain}
}

// all joins conditions without the empty ones.
func all(conditions ...string) string {
	return strings.Join(slices.DeleteFunc(conditions, func(c string) bool { return c == "" }), " AND ")
}

// nounIn returns the noun of w, the condition that the sentence adds, and the
// remaining words.
func nounIn(w words) (kind noun, mine string, rest words) {
	for i, word := range w.low {
		n, ok := nounOf(word)
		switch {
		case ok && kind.table == "":
			kind = n
		case slices.Contains(strings.Fields(`did do does i we you my our have has had there are is was were be been in the this of
			all any every list show me us give get find which what who system stored now exist got until far
			latest newest most recent created added uploaded made new held took place happened that from`), word):
		case isWriting(word):
			if slices.Contains(w.low, "i") {
				mine = "message_type = 'user'"
			}
		default:
			rest.written, rest.low = append(rest.written, w.written[i]), append(rest.low, word)
		}
	}
	if kind.table != "messages" {
		mine = ""
	}
	return kind, mine, rest
}

func isWriting(word string) bool {
	return slices.Contains([]string{"send", "sent", "wrote", "write", "written", "ask", "asked", "say", "said"}, word)
}

// has reports whether the store has a table with a column.
func (r rules) has(table, column string) bool {
	return slices.ContainsFunc(r.engine.Tables(), func(t store.TableInfo) bool {
		return t.Name == table && slices.ContainsFunc(t.Columns, func(c store.ColumnInfo) bool { return c.Name == column })
	})
}

// subject reads "documents about databases", "search for checklists", "how do I
// write an agent".
func (r rules) subject(ctx context.Context, w words) (proposal, error) {
	limit := 0
	if before, after, ok := w.cut("top|first"); ok && after.len() > 1 {
		if n, err := strconv.Atoi(after.low[0]); err == nil && n >= 1 && n <= rem.MaxLimit {
			limit = n
			w = words{slices.Concat(before.written, after.written[1:]), slices.Concat(before.low, after.low[1:])}
		}
	}
	for _, how := range []string{"how do i|how do we|how do you|how can i|how can we|how should i|how should we|how would i|how does one|how to",
		"search for|search|look for|find out about", "explain"} {
		if rest, ok := w.begins(how); ok && rest.len() > 0 && limit == 0 {
			if p, err := r.beforeSearch(ctx, w, rest); err != nil || p.Confidence > 0 {
				return p, err
			}
			if _, _, about := rest.cut("about|on|regarding|mentioning"); !about {
				documents, _ := nounOf("document")
				return searchFor(rest, documents, span{}, 0), nil
			}
		}
	}
	before, after, ok := w.cut("about|on|regarding|concerning|covering|mentioning|mention|mentions|that deal with|that explain|with information on")
	if !ok || after.bare().len() == 0 {
		return proposal{}, nil
	}
	kind, _, rest := nounIn(before.bare())
	if kind.table == "" && slices.ContainsFunc(before.low, isWriting) {
		kind, _ = nounOf("note")
	}
	if kind.searched == "" {
		return proposal{}, nil
	}
	if rest, _ := rest.begins("find|search|search for|look for|can|could|you"); rest.len() > 1 {
		return proposal{}, nil
	}
	return searchFor(after, kind, span{}, limit), nil
}

// searchFor returns a SEARCH for rows of a kind.
func searchFor(subject words, kind noun, when span, limit int) proposal {
	text := subject.bare().text()
	if text == "" || kind.searched == "" {
		return cannot("it does not say what to search for")
	}
	table := kind.searched
	if table == rem.DefaultTable && when == (span{}) && slices.Contains(subject.low, "p8") {
		table = rem.Manual
	}
	query := "SEARCH " + quoted(text) + " FROM " + table
	if where := all(kind.only, when.where(kind.time)); where != "" {
		query += " WHERE " + quoted(where)
	}
	if limit > 0 {
		query += " LIMIT " + strconv.Itoa(limit)
	}
	return proposal{Query: query, Confidence: plain}
}

// known is the key index's knowledge of a name.
type known struct {
	// key is the name's key, near are similar keys.
	key  string
	near []string
	// alike is true if the index has keys that are at least remotely similar.
	alike bool
}

// keysOf returns the keys of names in the index, "" for unknown ones, with one query
// for all.
func (r rules) keysOf(ctx context.Context, names ...words) ([]string, error) {
	keys := make([]string, len(names))
	var q rem.Lookup
	for i, name := range names {
		keys[i] = store.NormalizeKey(name.bare().text())
		if keys[i] != "" && !slices.Contains(q.Keys, keys[i]) {
			q.Keys = append(q.Keys, keys[i])
		}
	}
	if len(q.Keys) == 0 || len(q.Keys) > rem.MaxKeys {
		return make([]string, len(names)), nil
	}
	res, err := r.engine.Execute(ctx, q)
	for i := range keys {
		if !slices.ContainsFunc(res.Results, func(row rem.Row) bool { return row.Key == keys[i] }) {
			keys[i] = ""
		}
	}
	return keys, err
}

// look searches the index for a name, and for similar keys if no key is equal.
func (r rules) look(ctx context.Context, name words) (known, error) {
	keys, err := r.keysOf(ctx, name)
	if err != nil || keys[0] != "" {
		return known{key: keys[0]}, err
	}
	text := name.bare().text()
	key := store.NormalizeKey(text)
	if key == "" {
		return known{}, nil
	}
	res, err := r.engine.Execute(ctx, rem.NewFuzzy(text))
	if err != nil {
		return known{}, err
	}
	var like []string
	for _, row := range res.Results {
		// A sentence that contains a name is not that name misspelt.
		if len(key) <= len(row.Key)+max(2, len(row.Key)/4) {
			like = append(like, row.Key)
		}
	}
	return known{near: near.Names(key, like, 3), alike: len(like) > 0}, nil
}

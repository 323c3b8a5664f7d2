package ask

import (
	"strings"

	"github.com/p8-org/p8/rem"
)

// noun is a word for the rows of a table.
type noun struct {
	words string
	// table is the table for counts and lists, searched the table for subjects; "" for
	// none.
	table, searched string
	// time is the column of their dates, columns are those of a list.
	time, columns string
	// only is a condition that the word adds.
	only string
}

// nouns are the words for rows, singular; the first entry with a word wins.
var nouns = []noun{
	{words: "moment event", table: "moments", searched: "moments", time: "starts_timestamp", columns: "name, summary, starts_timestamp"},
	{words: "meeting", table: "moments", searched: "moments", time: "starts_timestamp", columns: "name, summary, starts_timestamp", only: "moment_type = 'meeting'"},
	{words: "document doc file upload", table: "files", searched: "resources", time: "created_at", columns: "name, uri, processing_status, created_at"},
	{words: "note article page text paper guide report material information info writing anything something everything resource", table: "resources", searched: "resources", time: "created_at", columns: "name, category, created_at"},
	{words: "ontology ontologies entity entities", table: "ontologies", searched: "ontologies", time: "created_at", columns: "name, category, created_at"},
	{words: "agent", table: "schemas", searched: "schemas", time: "created_at", columns: "name, description, created_at", only: "kind = 'agent'"},
	{words: "session conversation chat", table: "sessions", time: "created_at", columns: "id, name, agent_name, created_at"},
	{words: "message", table: "messages", time: "created_at", columns: "session_id, message_type, content, created_at"},
	{words: "user", table: "users", time: "created_at", columns: "name, email, created_at"},
	{words: "feedback", table: "feedback", time: "created_at", columns: "rating, comment, created_at"},
}

// nounOf returns the noun of a word (lower case, singular or plural).
func nounOf(word string) (noun, bool) {
	for _, n := range nouns {
		for w := range strings.FieldsSeq(n.words) {
			if word == w || word == w+"s" {
				return n, true
			}
		}
	}
	return noun{}, false
}

// relation is a verb between two things, with its relations in the graph.
type relation struct {
	// verbs are its forms: for one subject, for several.
	verbs string
	// active are the relations whose edges lead from the subject to the object, passive
	// those whose edges lead back; "" if no such names are common.
	active, passive string
	// mutual is true if the subject and the object may be exchanged.
	mutual bool
}

var relations = []relation{
	{verbs: "works with|work with|collaborates with|collaborate with", active: "works_with", mutual: true},
	{verbs: "works on|work on", active: "works_on"},
	{verbs: "works for|work for", active: "works_for"},
	{verbs: "reports to|report to", active: "reports_to", passive: "manages"},
	{verbs: "manages|manage|leads|lead", active: "manages", passive: "managed_by,reports_to"},
	{verbs: "owns|own", active: "owns", passive: "owned_by"},
	{verbs: "knows|know", active: "knows", mutual: true},
	{verbs: "wrote|write|writes|authored|author", active: "authored", passive: "authored_by"},
	{verbs: "depends on|depend on", active: "depends_on"},
	{verbs: "blocks|block", active: "blocks", passive: "blocked_by"},
	{verbs: "uses|use", active: "uses", passive: "used_by"},
	{verbs: "mentions|mention|refers to|refer to", active: "mentions"},
	{verbs: "links to|link to", active: "links_to"},
	{verbs: "belongs to|belong to", active: "part_of"},
}

// way is how a walk follows edges.
type way struct {
	types     string
	direction rem.Direction
}

// toObjects are the ways from a subject to its objects, toSubjects those back, the likelier
// one first.
func (r relation) toObjects() []way { return r.ways(rem.Out, rem.In) }

func (r relation) toSubjects() []way { return r.ways(rem.In, rem.Out) }

func (r relation) ways(active, passive rem.Direction) []way {
	if r.mutual {
		active = rem.Both
	}
	list := []way{{r.active, active}}
	if r.passive != "" {
		list = append(list, way{r.passive, passive})
	}
	return list
}

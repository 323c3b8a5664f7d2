package ask

import "strings"

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
	// forward edges lead from the subject, backward edges from the object; "" if no
	// such names are common.
	forward, backward string
}

var relations = []relation{
	{"works with|work with|collaborates with|collaborate with", "works_with", "works_with"},
	{"works on|work on", "works_on", ""},
	{"works for|work for", "works_for", ""},
	{"reports to|report to", "reports_to", "manages"},
	{"manages|manage|leads|lead", "manages", "managed_by,reports_to"},
	{"owns|own", "owns", "owned_by"},
	{"knows|know", "knows", "knows"},
	{"wrote|write|writes|authored|author", "authored", "authored_by"},
	{"depends on|depend on", "depends_on", ""},
	{"blocks|block", "blocks", "blocked_by"},
	{"uses|use", "uses", "used_by"},
	{"mentions|mention|refers to|refer to", "mentions", ""},
	{"links to|link to", "links_to", ""},
	{"belongs to|belong to", "part_of", ""},
}

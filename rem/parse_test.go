package rem_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/p8-org/p8/rem"
)

func lookup(keys ...string) rem.Query { return rem.Lookup{Keys: keys} }

func fuzzy(text string, threshold float64, limit int) rem.Query {
	return rem.Fuzzy{Text: text, Threshold: threshold, Limit: limit}
}

func TestParse(t *testing.T) {
	for query, want := range map[string]rem.Query{
		"LOOKUP sarah-chen":                                 lookup("sarah-chen"),
		"  lookup\tsarah-chen \n":                           lookup("sarah-chen"),
		"REM LOOKUP session-abc-msg-4":                      lookup("session-abc-msg-4"),
		"rem lookup x":                                      lookup("x"),
		"LOOKUP a b c":                                      lookup("a b c"),
		"LOOKUP a, b":                                       lookup("a", "b"),
		"LOOKUP a,b ,, a,":                                  lookup("a", "b"),
		"LOOKUP [a, b]":                                     lookup("a", "b"),
		"LOOKUP [ a ]":                                      lookup("a"),
		`LOOKUP ["a, b", 'c]']`:                             lookup("a, b", "c]"),
		`LOOKUP "a, b"`:                                     lookup("a, b"),
		`LOOKUP "[draft] plan"`:                             lookup("[draft] plan"),
		`LOOKUP plan [draft]`:                               lookup("plan [draft]"),
		"LOOKUP O'Brien":                                    lookup("O'Brien"),
		"LOOKUP 'O'Brien', 'tis":                            lookup("O'Brien", "'tis"),
		`LOOKUP "say \"hi\" \\ there"`:                      lookup(`say "hi" \ there`),
		`LOOKUP C:\temp`:                                    lookup(`C:\temp`),
		`LOOKUP "two"  words`:                               lookup("two words"),
		"LOOKUP Müller, 北京":                                 lookup("Müller", "北京"),
		"LOOKUP x=y LIMIT 5":                                lookup("x=y LIMIT 5"),
		"LOOKUP lookup":                                     lookup("lookup"),
		"FUZZY sara chn":                                    fuzzy("sara chn", 0, 0),
		"fuzzy sara THRESHOLD 0.5 LIMIT 5":                  fuzzy("sara", 0.5, 5),
		"FUZZY sara limit 5 threshold 1":                    fuzzy("sara", 1, 5),
		"FUZZY Sara threshold=0.4 limit=20":                 fuzzy("Sara", 0.4, 20),
		`FUZZY Sara Limit="20"`:                             fuzzy("Sara", 0, 20),
		"FUZZY sara LIMIT 5 LIMIT 7":                        fuzzy("sara", 0, 7),
		"FUZZY people in berlin with from where type table": fuzzy("people in berlin with from where type table", 0, 0),
		"FUZZY speed limit":                                 fuzzy("speed limit", 0, 0),
		"FUZZY SPEED LIMIT SIGN":                            fuzzy("SPEED LIMIT SIGN", 0, 0),
		"FUZZY limit 10 people to one room":                 fuzzy("limit 10 people to one room", 0, 0),
		`FUZZY speed "limit" 5`:                             fuzzy("speed limit 5", 0, 0),
		`FUZZY "speed limit 120"`:                           fuzzy("speed limit 120", 0, 0),
		`FUZZY "speed limit 120" LIMIT 3`:                   fuzzy("speed limit 120", 0, 3),
		"FUZZY why is x=y, and z=1":                         fuzzy("why is x=y, and z=1", 0, 0),
		"FUZZY rock 'n' roll isn't 5\" o'clock":             fuzzy(`rock n roll isn't 5" o'clock`, 0, 0),
		"FUZZY 'twas the 'night":                            fuzzy("'twas the 'night", 0, 0),
		"REM FUZZY lookup the sql search":                   fuzzy("lookup the sql search", 0, 0),
	} {
		got, err := rem.Parse(query)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) = %#v, %v\nwant %#v", query, got, err, want)
			continue
		}
		again, err := rem.Parse(got.String())
		if err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("Parse(%q), which is %q, = %#v, %v", got, query, again, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const all = "LOOKUP key, FUZZY text, SEARCH text"
	for query, want := range map[string]string{
		"":                        "column 1: the query is empty; write " + all,
		" \t":                     "column 1: the query is empty",
		"REM":                     "column 4: the query is empty",
		"LOOKUP":                  `column 7: LOOKUP needs a key; write LOOKUP key, or LOOKUP [key, "another, key"]`,
		"LOOKUP ,":                "column 8: LOOKUP needs a key",
		"LOOKUP []":               "column 9: LOOKUP needs a key",
		"LOOKUP [a, b":            "column 8: the list that opens here does not end with ]",
		`LOOKUP a, "b`:            "column 11: the quote that opens here is never closed",
		`LOOKUP a, " "`:           "column 11: the key is empty",
		"FUZZY":                   "column 6: FUZZY needs a text to search for; write FUZZY text [FROM manual] [THRESHOLD 0.3] [LIMIT 10]",
		"FUZZY LIMIT 5":           "column 6: FUZZY needs a text",
		`FUZZY "never closed`:     "column 7: the quote that opens here is never closed",
		"FUZZY é LIMIT 0":         "column 15: LIMIT is 0; it takes a whole number from 1 to 100",
		"FUZZY a LIMIT 2.5":       "column 15: LIMIT is 2.5; it takes",
		"FUZZY a LIMIT -3":        "column 15: LIMIT is -3; it takes",
		"FUZZY a LIMIT 101":       "column 15: LIMIT is 101; it takes",
		"FUZZY a LIMIT 1e999":     "column 15: LIMIT is 1e999; it takes",
		"FUZZY a limit=five":      "column 15: LIMIT is five; it takes",
		"FUZZY a LIMIT 0 LIMIT 5": "column 15: LIMIT is 0; it takes",
		"FUZZY a THRESHOLD 2":     "column 19: THRESHOLD is 2; it takes a number above 0 and up to 1",
		"FUZZY a threshold=0":     "column 19: THRESHOLD is 0; it takes",
		"FUZZY a load=maybe":      "column 14: load is maybe; it takes true or false",
		"SEARCH FROM schemas":     "column 7: SEARCH needs a text to search for; write SEARCH text [FROM resources, moments]",
		"SEARCH api FROM moments, resorces LIMIT 2": `column 26: there is no table "resorces"; the tables are schemas, resources,`,
		"SEARCH api FROM moments,":                  `column 17: the name of a table is missing; the tables are`,
		"SEARCH api table=moments,x":                `column 26: there is no table "x"; the tables are`,
		"SEARCH api table=nosuch":                   `column 18: there is no table "nosuch"; the tables are schemas, resources,`,
		"SEARCH api MIN_SIMILARITY 1.5":             "column 27: MIN_SIMILARITY is 1.5; it takes a number from 0 to 1",
		"SEARCH api field=1=1":                      `column 18: FIELD is "1=1"; it takes the name of a column`,
		"SEARCH a WHERE \"x = 1) OR (1 = 1\"":       "column 16: the parentheses of the condition do not match",
		"SEARCH a WHERE \"x = 1; y\"":               "column 16: a condition cannot hold ; or a comment",
		"SEARCH a WHERE \"x = 1 -- y\"":             "column 16: a condition cannot hold ; or a comment",
		"SEARCH a where=\"x = 'y\"":                 "column 16: a ' in the condition is never closed",
		"SEARCH a LIMIT 1000":                       "column 16: LIMIT is 1000; it takes a whole number from 1 to 100",
		"TRAVERSE":                                  "column 9: TRAVERSE needs a key; write TRAVERSE key [TYPE relation",
		"TRAVERSE DEPTH 2":                          "column 10: TRAVERSE needs a key",
		"TRAVERSE a DEPTH 6":                        "column 18: DEPTH is 6; it takes a whole number from 0 to 5",
		"TRAVERSE a DEPTH -1":                       "column 18: DEPTH is -1; it takes",
		"TRAVERSE [a, b DEPTH 2":                    "column 10: the list that opens here does not end with ]",
		`TRAVERSE "a`:                               "column 10: the quote that opens here is never closed",
		"TRAVERSE a order_by=colour":                "column 21: ORDER BY takes depth, weight, key,",
		"TRAVERSE a b WITH LOOKUP c":                "column 10: before WITH stand the relations to follow",
		"TRAVERSE a WITH LOOKUP":                    "column 23: LOOKUP needs a key; write LOOKUP key",
		"TRAVERSE a WITH EXPLAIN LOOKUP b":          "column 17: WITH takes a query that finds rows, not EXPLAIN",
		"TRAVERSE a WITH TRAVERSE b WITH LOOKUP c":  "column 17: a TRAVERSE behind WITH cannot have a WITH of its own",
		"SQL":                                "column 4: SQL needs a SELECT; write SQL SELECT … FROM table",
		"SQL DROP TABLE users":               `column 5: SQL takes one SELECT or WITH query, or the name of a table; "DROP" is neither`,
		"SQL EXPLAIN SELECT 1":               `column 5: SQL takes one SELECT or WITH query`,
		"SQL moments GROUP BY x":             `column 13: "GROUP" is no clause here; SQL on a table takes WHERE, ORDER BY and LIMIT`,
		"SQL table=nosuch":                   `column 11: there is no table "nosuch"`,
		`SQL where="a = 1"`:                  "column 5: SQL needs a SELECT or the name of a table",
		`SQL moments WHERE "a = 1 /* x */"`:  "column 19: a condition cannot hold ; or a comment",
		`SQL moments ORDER BY (SELECT 1)`:    "column 22: ORDER BY takes columns with ASC or DESC",
		"SQL moments LIMIT 1001":             "column 19: LIMIT is 1001; it takes a whole number from 1 to 1000",
		"EXPLAIN EXPLAIN LOOKUP a":           "column 9: EXPLAIN takes a query, not another EXPLAIN; write EXPLAIN query",
		"EXPLAIN LOOKUP":                     "column 15: LOOKUP needs a key",
		"explain how it works":               `column 1: "explain" is no verb`,
		"WITH love from paris":               `column 1: "WITH" is no verb`,
		"what is p8?":                        `column 1: "what" is no verb; write ` + all,
		"\xff":                               "column 1: the query is not valid UTF-8",
		strings.Repeat("x", 9000):            "column 1: the query is 9000 bytes long; at most 8192 are allowed",
		"LOOKUP " + strings.Repeat("é", 513): "column 8: the key is 513 characters long; at most 512 are allowed",
		"LOOKUP a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u": "column 48: this is key 21; at most 20 are allowed",
	} {
		_, err := rem.Parse(query)
		var syntax *rem.SyntaxError
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) || syntax.Form == "" {
			t.Errorf("Parse(%.60q): %v\nwant %s", query, err, want)
		}
		plain := strings.HasPrefix(query, "what") || strings.HasPrefix(query, "explain") || strings.HasPrefix(query, "WITH")
		if got := errors.Is(err, rem.ErrNoVerb); got != plain {
			t.Errorf("Parse(%.40q): no verb is %v", query, got)
		}
	}
}

// TestTablesInText: a list that only begins with a table is a part of the text.
func TestTablesInText(t *testing.T) {
	for _, text := range []string{
		"letters from users, mostly angry", "letters FROM users, mostly about billing", "letters from users, sessions and notes", "letters from users, friends",
	} {
		got, err := rem.Parse("SEARCH " + text)
		if q, ok := got.(rem.Search); err != nil || !ok || q.Text != text || q.Tables != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestQuoteMessageKeys(t *testing.T) {
	for _, session := range []string{"abc", "a,b", "a  b ", " a", "O'Brien", "'q'", `say "x"`, `b\`, "[1]", "x-msg-3", "a 'b"} {
		key := rem.MessageKey(session, 12)
		got, err := rem.Parse("REM LOOKUP " + rem.Quote(key))
		if err != nil || !reflect.DeepEqual(got, lookup(key)) {
			t.Errorf("%q: %#v, %v", key, got, err)
		}
	}
}

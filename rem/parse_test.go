package rem_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"p8/rem"
)

func lookup(keys ...string) rem.Query { return rem.Lookup{Keys: keys} }

func fuzzy(text string, threshold float64, limit int) rem.Query {
	q := rem.Fuzzy{Text: text, Threshold: rem.DefaultThreshold, Limit: rem.DefaultLimit}
	if threshold > 0 {
		q.Threshold = threshold
	}
	if limit > 0 {
		q.Limit, q.LimitGiven = limit, true
	}
	return q
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
	for query, want := range map[string]string{
		"":                                   "column 1: the query is empty; write LOOKUP key, or LOOKUP [key, \"another, key\"], or FUZZY text [THRESHOLD 0.3] [LIMIT 10]",
		" \t":                                "column 3: the query is empty",
		"REM":                                "column 4: the query is empty",
		"LOOKUP":                             `column 7: LOOKUP needs a key; write LOOKUP key, or LOOKUP [key, "another, key"]`,
		"LOOKUP ,":                           "column 8: LOOKUP needs a key",
		"LOOKUP []":                          "column 9: LOOKUP needs a key",
		"LOOKUP [a, b":                       "column 8: the list that opens here does not end with ]",
		`LOOKUP a, "b`:                       "column 11: the quote that opens here is never closed",
		`LOOKUP a, " "`:                      "column 11: the key is empty",
		"FUZZY":                              "column 6: FUZZY needs a text to search for; write FUZZY text [THRESHOLD 0.3] [LIMIT 10]",
		"FUZZY LIMIT 5":                      "column 6: FUZZY needs a text",
		`FUZZY "never closed`:                "column 7: the quote that opens here is never closed",
		"FUZZY é LIMIT 0":                    "column 15: LIMIT is 0; it takes a whole number from 1 to 100",
		"FUZZY a LIMIT 2.5":                  "column 15: LIMIT is 2.5; it takes",
		"FUZZY a LIMIT -3":                   "column 15: LIMIT is -3; it takes",
		"FUZZY a LIMIT 101":                  "column 15: LIMIT is 101; it takes",
		"FUZZY a LIMIT 1e999":                "column 15: LIMIT is 1e999; it takes",
		"FUZZY a limit=five":                 "column 15: LIMIT is five; it takes",
		"FUZZY a THRESHOLD 2":                "column 19: THRESHOLD is 2; it takes a number above 0 and up to 1",
		"FUZZY a threshold=0":                "column 19: THRESHOLD is 0; it takes",
		"SEARCH api design IN x":             "column 1: this store answers LOOKUP and FUZZY; SEARCH is not one of them; write LOOKUP key",
		"rem traverse a DEPTH 2":             "column 5: this store answers LOOKUP and FUZZY; TRAVERSE is not one of them",
		"SQL SELECT 1":                       "column 1: this store answers LOOKUP and FUZZY; SQL is not one of them",
		"what is p8?":                        `column 1: "what" is no verb; write LOOKUP key`,
		"\xff":                               "column 1: the query is not valid UTF-8",
		strings.Repeat("x", 9000):            "column 1: the query is 9000 bytes long; at most 8192 are allowed",
		"LOOKUP " + strings.Repeat("é", 513): "column 8: the key is 513 characters long; at most 512 are allowed",
		"LOOKUP a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u": "column 48: this is key 21; at most 20 are allowed",
	} {
		_, err := rem.Parse(query)
		var syntax *rem.SyntaxError
		if !errors.As(err, &syntax) || !strings.HasPrefix(err.Error(), want) || syntax.Form == "" {
			t.Errorf("Parse(%.40q): %v\nwant %s", query, err, want)
		}
		if got, want := errors.Is(err, rem.ErrNoVerb), strings.HasPrefix(query, "what"); got != want {
			t.Errorf("Parse(%.40q): no verb is %v", query, got)
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

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"LOOKUP [a, \"b, c\", 'O'Brien']", "FUZZY text THRESHOLD 0.5 LIMIT 5", "FUZZY x limit=3", "REM LOOKUP session-a-msg-1",
		`LOOKUP "\"`, "FUZZY 'a 'b", "SEARCH x", "plain words", "LOOKUP ]", "LOOKUP ''", "FUZZY a limit nan",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := rem.Parse(text)
		if err != nil {
			var syntax *rem.SyntaxError
			if !errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len(text)+1 || syntax.Form == "" {
				t.Errorf("Parse(%q): %#v", text, err)
			}
			return
		}
		plain := q.String()
		if len(plain) > rem.MaxQuery {
			return
		}
		again, err := rem.Parse(plain)
		if err != nil || !reflect.DeepEqual(again, q) {
			t.Errorf("Parse(%q) = %#v; its plain form %q gives %#v, %v", text, q, plain, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rem.Parse("FUZZY sara chen's plan THRESHOLD 0.4 LIMIT 5"); err != nil {
			b.Fatal(err)
		}
	}
}

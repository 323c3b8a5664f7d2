package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/tool"
)

const (
	tableForm = `{"type":"object","properties":{"day":{"type":"string","format":"date","description":"The  day\nof the visit"},"people":{"type":"integer","minimum":1},` +
		`"room":{"enum":["north","south"],"title":"Which room"},"note":{"type":"string"},"any":true},"required":["day","people"]}`
	shelfForm = `{"type":"object","properties":{"shelf":{"type":"string","enum":["north","south"]}},"required":["shelf"]}`
	countForm = `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`
	textForm  = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	paidForm  = `{"type":"object","properties":{"by":{"oneOf":[{"const":"c","title":"Card"},{"const":"b","title":"Bill"}]}},"required":["by"]}`
	nullForm  = `{"type":"object","properties":{"day":{"type":["string","null"]}},"required":["day"]}`
	sumForm   = `{"type":"object","properties":{"sum":{"enum":[1000000,1234567890123456]}},"required":["sum"]}`
	yesForm   = `{"type":"object","properties":{"sure":{"type":"boolean"}},"required":["sure"]}`
)

func TestAskInWords(t *testing.T) {
	for form, want := range map[string]string{
		tableForm: "Q?\n\n- day (date): The day of the visit\n- people (whole number)\n- room (north, south; optional): Which room\n- note (text; optional)\n- any (optional)\n\n" +
			"Answer in your own words, or with a JSON object of these fields.",
		shelfForm:           "Q?\n\n- shelf (north, south)",
		paidForm:            "Q?\n\n- by (c: Card, b: Bill)",
		yesForm:             "Q?\n\n- sure (true or false)",
		`{"type":"object"}`: "Q?",
		nullForm:            "Q?\n\n- day (text)",
		`{"type":"object","properties":{"n":{"type":["integer","string"]}}}`:                       "Q?\n\n- n (whole number or text; optional)",
		`{"type":"object","properties":{"sum":{"enum":[1000000,1234567890123456,2.5,true,null]}}}`: "Q?\n\n- sum (1000000, 1234567890123456, 2.5, true, null; optional)",
		`{"type":"object","properties":{"sum":{"oneOf":[{"const":2000000,"title":"A lot"}]}}}`:     "Q?\n\n- sum (2000000: A lot; optional)",
	} {
		if got := tool.AskInWords("Q?", json.RawMessage(form)); got != want {
			t.Errorf("%s:\n got %q\nwant %q", form, got, want)
		}
	}
}

func TestCheckReply(t *testing.T) {
	for _, c := range []struct{ form, message, want string }{
		{tableForm, `{"day":"2027-01-02","people":2}`, ""},
		{tableForm, ` {"day":"2027-01-02"} `, `This does not answer the question: missing property 'people'.`},
		{tableForm, `{"day":"2027-01-02","people":0}`, `This does not answer the question: people: `},
		{tableForm, `{"day":`, `This does not answer the question: it is not valid JSON`},
		{tableForm, `{"day":"2027-01-02","people":1e999}`, `This does not answer the question: `},
		{tableForm, "tomorrow, the two of us", ""},
		{shelfForm, "North", ""},
		{shelfForm, `"north"`, ""},
		{shelfForm, "west", `This does not answer the question: shelf is one of: north, south.`},
		{countForm, "3", ""},
		{countForm, "three", `This does not answer the question: n: `},
		{countForm, "0", `This does not answer the question: n: `},
		{textForm, "7", ""},
		{textForm, "Ada", ""},
		{textForm, "[Ada]", ""},
		{paidForm, "card", ""},
		{paidForm, "B", ""},
		{paidForm, "cash", `This does not answer the question: by is one of: c: Card, b: Bill.`},
		{yesForm, "ja", ""},
		{`{"type":"object","properties":{"sure":{"type":["null","boolean"]}}}`, "ja", ""},
		{nullForm, "Monday", ""},
		{sumForm, "1234567890123456", ""},
		{sumForm, "1000001", `This does not answer the question: sum is one of: 1000000, 1234567890123456.`},
		{`{"type":"object","properties":{}}`, "whatever", ""},
	} {
		err := tool.CheckReply(t.Context(), json.RawMessage(c.form), c.message)
		var known *tool.Error
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%s: %v", c.message, err)
			}
		case !errors.As(err, &known) || !strings.HasPrefix(known.Message, c.want) || !strings.HasSuffix(known.Message, "."):
			t.Errorf("%s: got %v, want %s", c.message, err, c.want)
		default:
			t.Log(known.Message)
		}
	}
}

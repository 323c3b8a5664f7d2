package tools

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/tool"
)

// person answers the questions of tools: with the flag --answer if it is there, else by asking
// the user at the terminal. Without either it declines.
type person struct {
	a      *command.App
	answer json.RawMessage
	lines  *bufio.Reader
	there  bool
}

// newPerson returns the user. If the arguments came from stdin, it is not theirs.
func newPerson(a *command.App, answer json.RawMessage, taken bool) *person {
	return &person{a: a, answer: answer, lines: bufio.NewReader(a.Stdin), there: !taken && show.IsTerminal(a.Stdin)}
}

func (p *person) present() bool { return p.there }

// confirm asks a question whose answer is yes or no.
func (p *person) confirm(ctx context.Context, question string) (bool, error) {
	text, err := p.line(ctx, show.Visible(question)+" [y/N] ")
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return isYes(text), err
}

func isYes(text string) bool { return slices.Contains([]string{"y", "yes"}, strings.ToLower(text)) }

// line shows a text and reads a line; ctx may end before there is one.
func (p *person) line(ctx context.Context, text string) (string, error) {
	fmt.Fprint(p.a.Stderr, text)
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := p.lines.ReadString('\n')
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		if text := strings.TrimSpace(r.text); text != "" || r.err == nil {
			return text, nil
		}
		fmt.Fprintln(p.a.Stderr)
		return "", r.err
	case <-ctx.Done():
		fmt.Fprintln(p.a.Stderr)
		return "", ctx.Err()
	}
}

// Ask asks a question of the tool. It never pauses the call.
func (p *person) Ask(ctx context.Context, q tool.Question) (tool.Answer, error) {
	switch {
	case p.answer != nil:
		return p.given(ctx, q)
	case !p.there:
		p.a.Say("%s", show.Flat(q.Message))
		p.a.Say("nobody is asked without a terminal, so the question is declined: --answer JSON answers it")
		return tool.Answer{Action: tool.Declined}, nil
	}
	fmt.Fprintln(p.a.Stderr, show.Visible(q.Message))
	fields := fieldsOf(q.Schema)
	if len(fields) == 0 {
		switch ok, err := p.confirm(ctx, "Go on?"); {
		case err != nil:
			return tool.Answer{}, err
		case !ok:
			return tool.Answer{Action: tool.Declined}, nil
		}
		return tool.Answer{Action: tool.Accepted, Content: json.RawMessage("{}")}, nil
	}
	fmt.Fprintln(p.a.Stderr, "Enter keeps a default or leaves a field out; ! declines; Ctrl-D cancels.")
	return p.fill(ctx, q, fields)
}

// given is the answer of the command line.
func (p *person) given(ctx context.Context, q tool.Question) (tool.Answer, error) {
	if q.Schema == nil {
		return tool.Answer{Action: tool.Accepted}, nil
	}
	var content map[string]json.RawMessage
	_ = json.Unmarshal(p.answer, &content) // it was checked to be an object
	answer, err := complete(content, fieldsOf(q.Schema))
	if err != nil {
		return tool.Answer{}, err
	}
	err = tool.ValidateAnswer(ctx, q.Schema, answer)
	if known := new(tool.Error); errors.As(err, &known) {
		err = &tool.Error{Message: "--answer: " + known.Message}
	}
	if err != nil {
		return tool.Answer{}, err
	}
	return tool.Answer{Action: tool.Accepted, Content: answer}, nil
}

// fill asks for each field until the answer fits the schema.
func (p *person) fill(ctx context.Context, q tool.Question, fields []field) (tool.Answer, error) {
	for {
		content := map[string]json.RawMessage{}
		for _, f := range fields {
			text, err := p.line(ctx, f.prompt())
			switch {
			case errors.Is(err, io.EOF):
				return tool.Answer{Action: tool.Cancelled}, nil
			case err != nil:
				return tool.Answer{}, err
			case text == "!":
				return tool.Answer{Action: tool.Declined}, nil
			case text == "":
				continue
			}
			raw, err := json.Marshal(f.value(text))
			if err != nil {
				return tool.Answer{}, err
			}
			content[f.name] = raw
		}
		answer, err := complete(content, fields)
		if err != nil {
			return tool.Answer{}, err
		}
		err = tool.ValidateAnswer(ctx, q.Schema, answer)
		var known *tool.Error
		switch {
		case err == nil:
			return tool.Answer{Action: tool.Accepted, Content: answer}, nil
		case !errors.As(err, &known):
			return tool.Answer{}, err
		}
		p.a.Say("%s", show.Flat(known.Message))
	}
}

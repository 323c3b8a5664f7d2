package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

type queryCmd struct {
	Query []string `arg:"" optional:"" help:"A query of the REM dialect, such as 'LOOKUP sarah-chen'. Without it: one query a line, with history and completion on a terminal."`

	caller
	Format string `short:"f" default:"table" enum:"table,json,yaml,markdown" help:"Format of the answer: table, json, yaml or markdown (${default})."`
}

// Run answers one query, or one after the other.
func (c *queryCmd) Run(a *app) error {
	if len(c.Query) > 0 && strings.TrimSpace(strings.Join(c.Query, " ")) == "" {
		return usage(`the query is empty: give one, as in p8 query "LOOKUP getting-started"`)
	}
	return a.withEngine(c.caller, func(ctx context.Context, e *rem.Engine) error {
		if len(c.Query) > 0 {
			return c.answer(ctx, a, e, strings.Join(c.Query, " "))
		}
		return c.loop(ctx, a, e)
	})
}

// withEngine gives the dialect over the stored rows to fn; it reads only, so a
// running server does not matter.
func (a *app) withEngine(who caller, fn func(context.Context, *rem.Engine) error) error {
	return a.withStore(who, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return errors.New("nothing is stored yet: teach p8 a folder with `p8 upsert FOLDER`, or start it with `p8 serve`")
		}
		cfg, err := a.config()
		if err != nil {
			return err
		}
		model, err := newEmbedder(cfg)
		if err != nil {
			return err
		}
		return fn(ctx, newEngine(cfg, s, model, a.quietLogger(cfg)))
	})
}

// answer runs a query and prints what it found. Ctrl-C ends this query alone.
func (c *queryCmd) answer(ctx context.Context, a *app, e *rem.Engine, text string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	res, err := e.Run(ctx, text)
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{exitInterrupted, errors.New("stopped")}
	case err != nil:
		return explainQuery(text, err)
	}
	for _, note := range res.Notes {
		a.say("%s", note)
	}
	return printResult(a.stdout, c.Format, res)
}

// explainQuery points at the place of a mistake.
func explainQuery(text string, err error) error {
	var syntax *rem.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	if syntax.Column < 1 || strings.ContainsAny(text, "\n\t") || len(text) > widest {
		return &exitError{exitUsage, err}
	}
	return usage("%v\n  %s\n  %s^", err, visible(text), strings.Repeat(" ", syntax.Column-1))
}

// loop answers a query a line until the input ends; a mistake does not end it.
func (c *queryCmd) loop(ctx context.Context, a *app, e *rem.Engine) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	p := newPrompt(a, "rem> ", filepath.Join(cfg.DataDir, "query_history"), queryWords())
	failed := false
	// Only a script is told that a query failed: a person has read it.
	ended := func() error {
		if failed && p.editor == nil {
			return errSilent
		}
		return nil
	}
	for {
		line, err := p.line()
		switch {
		case errors.Is(err, errAborted):
			continue
		case errors.Is(err, io.EOF):
			return ended()
		case err != nil:
			return err
		}
		switch line = strings.TrimSpace(line); strings.ToLower(line) {
		case "":
			continue
		case "exit", "quit", `\q`:
			return ended()
		case "help", `\h`, "?":
			fmt.Fprintln(a.stdout, rem.Grammar())
			continue
		}
		if err := c.answer(ctx, a, e, line); err != nil {
			failed = true
			a.report(err)
		}
	}
}

// printResult prints the answer to a query.
func printResult(w io.Writer, format string, res rem.Result) error {
	switch format {
	case formatJSON:
		return writeJSON(w, res)
	case formatYAML:
		return writeYAML(w, res)
	}
	g, err := gridOf(res)
	if err != nil {
		return err
	}
	if len(g.rows) == 0 {
		nothing := "nothing found"
		if len(res.Suggestions) > 0 {
			nothing += "; near: " + strings.Join(res.Suggestions, ", ")
		}
		_, err := fmt.Fprintln(w, nothing)
		return err
	}
	if format == formatMarkdown {
		return g.markdown(w)
	}
	return g.table(w)
}

// gridOf puts the answer into columns that fit its kind.
func gridOf(res rem.Result) (grid, error) {
	switch {
	case res.Plan != nil:
		return planGrid(*res.Plan), nil
	case res.Selection != nil:
		g := grid{columns: res.Selection.Columns}
		for _, row := range res.Selection.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = cell(v)
			}
			g.rows = append(g.rows, cells)
		}
		return g, nil
	case len(res.EdgeSummary) > 0:
		g := grid{columns: []string{"relation", "count", "targets"}}
		for _, s := range res.EdgeSummary {
			g.rows = append(g.rows, []string{s.Relation, strconv.Itoa(s.Count), strings.Join(s.Targets, ", ")})
		}
		return g, nil
	case res.QueryType == rem.TRAVERSE:
		g := grid{columns: []string{"depth", "relation", "weight", "key", "type", "summary"}}
		for _, r := range res.Results {
			if r.Hop == nil {
				continue
			}
			g.rows = append(g.rows, []string{strconv.Itoa(r.Depth), r.Relation, score(r.Weight), r.Key, r.EntityType, summaryOf(r)})
		}
		return g, nil
	}
	g := grid{columns: []string{"key", "type", "score", "summary"}}
	for _, r := range res.Results {
		g.rows = append(g.rows, []string{r.Key, r.EntityType, score(r.Score), summaryOf(r)})
	}
	return g, nil
}

func score(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// summaryOf is a row in a few words.
func summaryOf(r rem.Row) string {
	if r.Summary != "" {
		return r.Summary
	}
	var data struct{ Summary, Content, Description string }
	_ = json.Unmarshal(r.Data, &data)
	for _, s := range []string{data.Summary, data.Content, data.Description} {
		if s != "" {
			return s
		}
	}
	return string(r.Data)
}

// planGrid is the answer to an EXPLAIN.
func planGrid(p rem.Plan) grid {
	g := grid{columns: []string{"step", "reads", "bound"}}
	for _, s := range p.Steps {
		g.rows = append(g.rows, []string{s.Operation, s.Index, s.Bound})
		for _, line := range s.Engine {
			g.rows = append(g.rows, []string{"", line, ""})
		}
	}
	return g
}

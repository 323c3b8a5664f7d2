// Command promql-go parses expressions with Prometheus's parser, and reports what they select.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// report is what an expression has: the labels of each metric, by matchers and by the aggregations
// around it.
type report struct {
	Error   string              `json:"error"`
	Metrics map[string][]string `json:"metrics"`
}

func main() {
	var expressions []string
	if err := json.NewDecoder(os.Stdin).Decode(&expressions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p := parser.NewParser(parser.Options{})
	reports := make([]report, len(expressions))
	for i, text := range expressions {
		reports[i].Metrics = map[string][]string{}
		e, err := p.ParseExpr(text)
		if err != nil {
			reports[i].Error = err.Error()
			continue
		}
		parser.Inspect(e, func(n parser.Node, above []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			used := reports[i].Metrics[s.Name]
			for _, m := range s.LabelMatchers {
				if m.Name != labels.MetricName {
					used = append(used, m.Name)
				}
			}
			for _, a := range above {
				if a, ok := a.(*parser.AggregateExpr); ok {
					used = append(used, a.Grouping...)
				}
			}
			reports[i].Metrics[s.Name] = append([]string{}, used...)
			return nil
		})
	}
	_ = json.NewEncoder(os.Stdout).Encode(reports)
}

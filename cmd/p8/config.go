package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/p8-org/p8/internal/config"
)

type configCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run prints every effective setting with its origin, secrets masked.
func (c *configCmd) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if c.JSON {
		err = writeJSON(a.stdout, cfg.Entries())
	} else {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SETTING\tVALUE\tORIGIN")
		for _, e := range cfg.Entries() {
			value := e.Value
			if value == "" {
				value = "-"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, value, e.Origin)
		}
		err = w.Flush()
	}
	a.warnUnknown(cfg)
	return err
}

// warnUnknown names variables that look like settings and are none.
func (a *app) warnUnknown(cfg *config.Config) {
	for _, name := range cfg.Unknown() {
		a.say("%s is no setting of this build: `p8 config` lists them all", name)
	}
}

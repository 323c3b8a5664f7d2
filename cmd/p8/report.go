package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/store"
)

// report prints an error, one line a problem, and returns the exit code.
func (a *app) report(err error) int {
	code := exitFailed
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
	}
	if errors.Is(err, errSilent) {
		return code
	}
	if failure := new(store.Failure); errors.As(err, &failure) {
		mend := "look at the disk and the folder of the database (P8_DATA_DIR)"
		if cfg, err := a.config(); err == nil && cfg.Database().Postgres != "" {
			mend = "`p8 doctor` looks at the database"
		}
		a.say("%v (%s): %s", failure, strings.Join(strings.Fields(failure.Err.Error()), " "), mend)
		return code
	}
	if missing := new(catalog.NotFoundError); errors.As(err, &missing) && len(missing.Near) == 0 {
		a.say("%v: `p8 schema list` shows those there are", missing)
		return code
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		a.say("%s", line)
	}
	return code
}

// say prints one line for the person at the terminal.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, "p8: "+format+"\n", args...)
}

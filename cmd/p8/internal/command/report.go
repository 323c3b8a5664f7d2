package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/store"
)

// Report prints an error, one line a problem, and returns the exit code.
func (a *App) Report(err error) int {
	code := ExitFailed
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
	}
	if errors.Is(err, ErrSilent) {
		return code
	}
	if failure := new(store.Failure); errors.As(err, &failure) {
		mend := "look at the disk and the folder of the database (P8_DATA_DIR)"
		if cfg, err := a.Config(); err == nil && cfg.Database().Postgres != "" {
			mend = "`p8 doctor` looks at the database"
		}
		a.Say("%v (%s): %s", failure, strings.Join(strings.Fields(failure.Err.Error()), " "), mend)
		return code
	}
	if missing := new(catalog.NotFoundError); errors.As(err, &missing) && len(missing.Near) == 0 {
		a.Say("%v: `p8 schema list` shows those there are", missing)
		return code
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		a.Say("%s", line)
	}
	return code
}

// SayEmpty reports that a list is empty: either nothing matches the options, if there are
// any, or nothing is stored yet. hint says how to get a first entry; it may be "".
func (a *App) SayEmpty(nouns string, options bool, hint string) {
	switch {
	case options:
		a.Say("no %s match", nouns)
	case hint == "":
		a.Say("there are no %s yet", nouns)
	default:
		a.Say("there are no %s yet: %s", nouns, hint)
	}
}

// Say prints one line to stderr.
func (a *App) Say(format string, args ...any) {
	fmt.Fprintf(a.Stderr, "p8: "+format+"\n", args...)
}

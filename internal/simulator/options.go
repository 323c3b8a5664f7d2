package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
)

// The demos, which replace a simulator's own sequence.
const (
	// DemoMinimal is text and the end, nothing else.
	DemoMinimal = "minimal"
	// DemoError is text that an error interrupts.
	DemoError = "error"
)

// The defaults and limits.
const (
	defaultDelay      = 50 * time.Millisecond
	minimalDelay      = 30 * time.Millisecond
	maxDelay          = 10 * time.Second
	defaultErrorAfter = 10
	maxErrorAfter     = 1000
	maxSeed           = 128
	// maxPromptWords bounds the words of a prompt that are played.
	maxPromptWords = 2000
)

// Options are the switches. The zero value plays everything but the delegations, with
// random ids.
type Options struct {
	// RunID is the run's id; "" leaves it to the code that stores the run.
	RunID string
	// Delay is the time between two events: 50 ms when 0 (30 ms in the minimal demo),
	// none when below.
	Delay time.Duration
	// These leave out parts of the sequence.
	NoReasoning, NoProgress, NoToolCalls, NoActions, NoMetadata bool
	// Children adds delegations to other agents.
	Children bool
	// Demo is DemoMinimal or DemoError, "" for the simulator's own sequence.
	Demo string
	// ErrorAfterWords is the number of words of the error demo: 10 when 0, none when
	// negative.
	ErrorAfterWords int
	// Seed makes the ids repeatable, if NewID is nil.
	Seed string
	// NewID makes ids; random UUIDs when nil.
	NewID func() string
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// OptionError is a switch with an invalid value.
type OptionError struct {
	// Name is the switch, Value the given value, Want the allowed ones.
	Name, Value, Want string
}

// Error names the switch, its value and the allowed ones.
func (e *OptionError) Error() string {
	value := []rune(e.Value)
	if len(value) > 40 {
		value = append(value[:40], '…')
	}
	return fmt.Sprintf("%s is %q; use %s", e.Name, string(value), e.Want)
}

// option is one switch. set sets its field and reports whether the value is valid.
type option struct {
	name, want string
	set        func(o *Options, value string) bool
}

// options are the switches, by their names in parameters and prompts.
var options = []option{
	{"delay_ms", "a number of milliseconds from 0 to 10000", func(o *Options, v string) bool {
		n, ok := number(v, int(maxDelay/time.Millisecond))
		o.Delay = time.Duration(n) * time.Millisecond
		return ok
	}},
	include("include_reasoning", func(o *Options, on bool) { o.NoReasoning = !on }),
	include("include_progress", func(o *Options, on bool) { o.NoProgress = !on }),
	include("include_tool_calls", func(o *Options, on bool) { o.NoToolCalls = !on }),
	include("include_actions", func(o *Options, on bool) { o.NoActions = !on }),
	include("include_metadata", func(o *Options, on bool) { o.NoMetadata = !on }),
	include("include_children", func(o *Options, on bool) { o.Children = on }),
	{"demo", "minimal or error", func(o *Options, v string) bool {
		o.Demo = v
		return v == DemoMinimal || v == DemoError
	}},
	{"error_after_words", "a number of words from 0 to 1000", func(o *Options, v string) (ok bool) {
		o.ErrorAfterWords, ok = number(v, maxErrorAfter)
		return ok
	}},
	{"seed", "1 to 128 characters", func(o *Options, v string) bool {
		o.Seed = v
		return v != "" && len(v) <= maxSeed
	}},
}

// include is a switch that is true or false.
func include(name string, set func(*Options, bool)) option {
	return option{name, "true or false", func(o *Options, value string) bool {
		on, err := strconv.ParseBool(value)
		set(o, on)
		return err == nil
	}}
}

// number is a value from 0 to most. In Options a negative number means 0.
func number(value string, most int) (int, bool) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > most {
		return 0, false
	}
	if n == 0 {
		n = -1
	}
	return n, true
}

// OptionNames returns the names of the switches.
func OptionNames() []string {
	names := make([]string, len(options))
	for i := range options {
		names[i] = options[i].name
	}
	return names
}

// ParseOptions reads the switches among parameters and ignores other parameters. The
// error is an [*OptionError].
func ParseOptions(parameters map[string]string) (Options, error) {
	var o Options
	for _, known := range options {
		value, ok := parameters[known.name]
		if ok && !known.set(&o, value) {
			return Options{}, &OptionError{known.name, value, known.want}
		}
	}
	return o, nil
}

// promptOptions removes the switches ("delay_ms=0") from a prompt and reads them.
func promptOptions(prompt string, o Options) (words []string, _ Options, err error) {
	words = strings.Fields(prompt)
	if len(words) > maxPromptWords {
		words = words[:maxPromptWords]
	}
	words = slices.DeleteFunc(words, func(word string) bool {
		name, value, ok := strings.Cut(word, "=")
		i := slices.IndexFunc(options, func(known option) bool { return known.name == name })
		if !ok || i < 0 {
			return false
		}
		if !options[i].set(&o, value) && err == nil {
			err = &OptionError{name, value, options[i].want}
		}
		return true
	})
	return words, o, err
}

// refusal words a wrong switch for a client.
func refusal(err error) event.Data {
	d := &event.ErrorData{Code: "invalid_request", Message: err.Error(), HTTPStatus: http.StatusBadRequest}
	var wrong *OptionError
	if errors.As(err, &wrong) {
		d.Details = map[string]any{"field": wrong.Name}
	}
	return d
}

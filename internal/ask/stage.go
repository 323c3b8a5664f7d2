package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/rem"
)

// MaxStages is the longest plan.
const MaxStages = 10

// Stage is one query of a plan.
//
// Its text may refer to the results of an earlier stage: ${stage1.key} is the first
// key of stage 1, ${stage1.keys} all of them (at most 20), and ${people.keys} those of
// the stage named people. A reference stands without quotes in place of a key, a text
// or an SQL value; the keys are filled in as values, whatever their characters. A
// stage does not run if its references found nothing.
type Stage struct {
	// Stage is its number, from 1.
	Stage int `json:"stage"`
	// Query is a query of the dialect; without one, Intent is a question in plain
	// words.
	Query  string `json:"query,omitempty"`
	Intent string `json:"intent,omitempty"`
	// Name is the stage's name for references: letters, digits, _ and -.
	Name string `json:"name,omitempty"`
	// DependsOn are the stages that run before it, by number or name; stages in
	// references need not be listed.
	DependsOn []Ref `json:"depends_on,omitempty"`
}

// text returns the text that may contain references.
func (s Stage) text() string { return cmp.Or(s.Query, s.Intent) }

// Ref is a stage's number or name; in JSON a number or a string.
type Ref string

// UnmarshalJSON accepts 1, "1", "stage1" and "people".
func (r *Ref) UnmarshalJSON(b []byte) error {
	var text string
	var n int
	switch {
	case json.Unmarshal(b, &n) == nil:
		text = strconv.Itoa(n)
	case json.Unmarshal(b, &text) != nil:
		return &InputError{"depends_on", "depends_on holds stages, each by its number or its name"}
	}
	*r = Ref(text)
	return nil
}

// StageResult is the result of a stage.
type StageResult struct {
	Stage     int      `json:"stage"`
	Name      string   `json:"name,omitempty"`
	QueryType rem.Verb `json:"query_type,omitempty"`
	// Query is the query that ran, with its references filled in; "" if none ran.
	Query string `json:"query_executed"`
	// Results are JSON objects.
	Results []json.RawMessage `json:"results"`
	Count   int               `json:"count"`
	// Warning says why the stage did not run.
	Warning string `json:"warning,omitempty"`
}

// keys returns the keys of the results, each once, in their order.
func (r StageResult) keys() []string {
	var out []string
	for _, row := range r.Results {
		var is struct {
			Key       string `json:"key"`
			EntityKey string `json:"entity_key"`
			Name      string `json:"name"`
			Data      struct {
				Key  string `json:"key"`
				Name string `json:"name"`
			} `json:"data"`
		}
		// A row of another form has no key.
		_ = json.Unmarshal(bytes.TrimSpace(row), &is)
		key := cmp.Or(is.Key, is.EntityKey, is.Data.Key, is.Data.Name, is.Name)
		if key != "" && len(key) <= rem.MaxText && !slices.Contains(out, key) {
			out = append(out, key)
		}
		if len(out) == rem.MaxKeys {
			break
		}
	}
	return out
}

// reference matches ${name.key} and ${name.keys}.
var reference = regexp.MustCompile(`\$\{([^{}]*)\}`)

// stageName matches the names of stages; stage3 always means the third.
var stageName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// refers returns the stages that a text refers to.
func refers(text string) ([]Ref, error) {
	var out []Ref
	found := reference.FindAllStringSubmatch(text, -1)
	if len(found) != strings.Count(text, "${") {
		return nil, &InputError{"query", "a reference is not closed; write ${stage1.key} or ${stage1.keys}"}
	}
	for _, m := range found {
		name, what, _ := strings.Cut(strings.TrimSpace(m[1]), ".")
		if what != "key" && what != "keys" {
			return nil, &InputError{"query", fmt.Sprintf("%.60s is no reference; write ${stage1.key}, ${stage1.keys} or, by name, ${people.keys}", m[0])}
		}
		out = append(out, Ref(name))
	}
	return out, nil
}

// order checks a plan and sorts its stages: each after its dependencies, else by
// number. done are stages that ran before.
func order(plan []Stage, done []StageResult) ([]Stage, error) {
	if len(plan) == 0 {
		return nil, &InputError{"plan", "the plan is empty: give at least one stage"}
	}
	if len(plan) > MaxStages {
		return nil, &InputError{"plan", fmt.Sprintf("the plan has %d stages; at most %d are allowed", len(plan), MaxStages)}
	}
	left := slices.Clone(plan)
	for i := range left {
		if left[i].Stage == 0 && len(left) == 1 {
			left[i].Stage = 1
		}
	}
	arrange.By(left, func(a, b Stage) int { return cmp.Compare(a.Stage, b.Stage) })
	needs := map[int][]int{}
	for i, s := range left {
		if err := s.check(left[:i]); err != nil {
			return nil, err
		}
		refs, err := refers(s.text())
		if err != nil {
			return nil, inStage(s.Stage, err)
		}
		for _, ref := range slices.Concat(s.DependsOn, refs) {
			n, inPlan, known := resolve(ref, left, done)
			if !known {
				return nil, &InputError{"plan", fmt.Sprintf("stage %d depends on %.60q, which is no stage of the plan and was not run before", s.Stage, string(ref))}
			}
			if inPlan {
				needs[s.Stage] = append(needs[s.Stage], n)
			}
		}
	}
	return sorted(left, needs)
}

// sorted repeatedly takes the first stage whose dependencies are done.
func sorted(left []Stage, needs map[int][]int) ([]Stage, error) {
	var out []Stage
	ran := map[int]bool{}
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(s Stage) bool {
			return !slices.ContainsFunc(needs[s.Stage], func(n int) bool { return !ran[n] })
		})
		if i < 0 {
			var names []string
			for _, s := range left {
				names = append(names, strconv.Itoa(s.Stage))
			}
			return nil, &InputError{"plan", "the plan goes in a circle: the stages " + strings.Join(names, ", ") + " wait for each other"}
		}
		ran[left[i].Stage] = true
		out = append(out, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return out, nil
}

// check checks a stage by itself; before are those with smaller numbers.
func (s Stage) check(before []Stage) error {
	wrong := func(format string, args ...any) error {
		return &InputError{"plan", fmt.Sprintf("stage %d ", s.Stage) + fmt.Sprintf(format, args...)}
	}
	switch {
	case s.Stage < 1:
		return &InputError{"plan", "every stage has a number from 1: {\"stage\": 1, \"query\": …}"}
	case (strings.TrimSpace(s.Query) == "") == (strings.TrimSpace(s.Intent) == ""):
		return wrong("needs either a query or an intent")
	case s.Name != "" && !stageName.MatchString(s.Name):
		return wrong("is named %.70q; a name has letters, digits, _ and -, and begins with a letter", s.Name)
	case numbered(s.Name) != 0 && numbered(s.Name) != s.Stage:
		return wrong("is named %s, which means another stage", s.Name)
	}
	for _, other := range before {
		if other.Stage == s.Stage {
			return wrong("is there twice")
		}
		if s.Name != "" && other.Name == s.Name {
			return wrong("has the name %s of stage %d", s.Name, other.Stage)
		}
	}
	return nil
}

// numbered returns the number of "3" or "stage3", 0 for any other name.
func numbered(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "stage"))
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// resolve returns the stage of a reference, from the plan or from those that ran
// before.
func resolve(ref Ref, plan []Stage, done []StageResult) (number int, inPlan, known bool) {
	n := numbered(string(ref))
	for _, s := range plan {
		if s.Name == string(ref) || s.Stage == n {
			return s.Stage, true, true
		}
	}
	for _, r := range done {
		if r.Name != "" && r.Name == string(ref) || r.Stage == n && n > 0 {
			return r.Stage, false, true
		}
	}
	return 0, false, false
}

// StageError is the error of one stage.
type StageError struct {
	Stage int
	Err   error
}

// Error names the stage.
func (e *StageError) Error() string { return fmt.Sprintf("stage %d: %s", e.Stage, e.Err) }

// Unwrap returns the stage's error.
func (e *StageError) Unwrap() error { return e.Err }

func inStage(n int, err error) error { return &StageError{n, err} }

package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/sqlgate"
)

// dangerous matches calls that no statement of the gate has, as PostgreSQL prints them:
// calls that change a setting, and with it the role, run a text, or leave the database.
// texts matches the literals, which may have any content.
var (
	dangerous = regexp.MustCompile(`\b(set_config|current_setting|\w+_to_xml\w*|pg_\w+|lo_\w+|dblink\w*|nextval|setval|currval|lastval|inet_\w+|ts_stat|ts_rewrite)\(`)
	texts     = regexp.MustCompile(`E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'`)
)

// checkPlan checks the database's plan of the statement: it may read the listed tables
// only and call the gate's functions only.
func checkPlan(rows [][][]byte) error {
	if len(rows) != 1 || len(rows[0]) != 1 {
		return errors.New("postgres: a SELECT has one plan")
	}
	var plan any
	if err := json.Unmarshal(rows[0][0], &plan); err != nil {
		return fmt.Errorf("postgres: read a plan: %w", err)
	}
	tables := map[string]bool{}
	for _, t := range store.Tables() {
		tables[t.Name] = true
	}
	var walk func(v any) error
	walk = func(v any) error {
		switch v := v.(type) {
		case string:
			if dangerous.MatchString(texts.ReplaceAllString(v, "''")) {
				return &store.SelectError{Problem: "the query calls a function that is not available"}
			}
		case []any:
			for _, x := range v {
				if err := walk(x); err != nil {
					return err
				}
			}
		case map[string]any:
			if name, ok := v["Relation Name"].(string); ok && (!tables[name] || v["Schema"] == "pg_catalog" || v["Schema"] == "information_schema") {
				return &store.SelectError{Problem: fmt.Sprintf("the relation %q cannot be read", name)}
			}
			if name, ok := v["Function Name"].(string); ok && name != "p8_caller" && !sqlgate.SetFunction(name) {
				return &store.SelectError{Problem: fmt.Sprintf("the function %s() cannot be used in FROM", name)}
			}
			for _, x := range v {
				if err := walk(x); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return walk(plan)
}

package sqlgate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// function is an entry of the allow-list.
type function struct {
	min, max int
	// result is the type of the value. If sameAs is set, the value has the type of that
	// argument, counted from 1.
	result Type
	sameAs int
	// params are the types that literals take, by position; the last repeats.
	params []Type
	// agg takes DISTINCT, ORDER BY and FILTER; win needs OVER; set is for FROM.
	agg, win, set bool
	// lite is SQLite's name: "" for the same name, "-" for a function that only PostgreSQL
	// has. pg is PostgreSQL's name, if it differs.
	lite, pg string
	// grows: the result may be a text much longer than the arguments.
	grows bool
	// ordered needs WITHIN GROUP.
	ordered bool
}

func (f function) arity() string {
	switch {
	case f.max == 0:
		return "no arguments"
	case f.min == f.max && f.min == 1:
		return "1 argument"
	case f.min == f.max:
		return fmt.Sprintf("%d arguments", f.min)
	case f.max >= many:
		return fmt.Sprintf("%d or more arguments", f.min)
	}
	return fmt.Sprintf("%d to %d arguments", f.min, f.max)
}

const many = 50

// functions is the allow-list: pure functions of their arguments, and now().
// None reads a file, a catalog or a setting, waits, locks, or runs text.
var functions = map[string]function{
	"count": {max: 1, result: Integer, agg: true},
	"sum":   {min: 1, max: 1, sameAs: 1, params: []Type{Number}, agg: true},
	"avg":   {min: 1, max: 1, result: Number, params: []Type{Number}, agg: true},
	"min":   {min: 1, max: 1, sameAs: 1, agg: true},
	"max":   {min: 1, max: 1, sameAs: 1, agg: true},

	"string_agg":       {min: 2, max: 2, result: Text, params: []Type{Text}, agg: true, grows: true},
	"array_agg":        {min: 1, max: 1, result: JSON, agg: true, lite: "json_group_array", pg: "jsonb_agg"},
	"json_agg":         {min: 1, max: 1, result: JSON, agg: true, lite: "json_group_array", pg: "jsonb_agg"},
	"jsonb_agg":        {min: 1, max: 1, result: JSON, agg: true, lite: "json_group_array"},
	"json_object_agg":  {min: 2, max: 2, result: JSON, params: []Type{Text, Any}, agg: true, lite: "json_group_object", pg: "jsonb_object_agg"},
	"jsonb_object_agg": {min: 2, max: 2, result: JSON, params: []Type{Text, Any}, agg: true, lite: "json_group_object"},
	"bool_and":         {min: 1, max: 1, result: Boolean, params: []Type{Boolean}, agg: true, lite: "min"},
	"every":            {min: 1, max: 1, result: Boolean, params: []Type{Boolean}, agg: true, lite: "min"},
	"bool_or":          {min: 1, max: 1, result: Boolean, params: []Type{Boolean}, agg: true, lite: "max"},
	"stddev":           {min: 1, max: 1, result: Number, params: []Type{Number}, agg: true, lite: "-"},
	"stddev_pop":       {min: 1, max: 1, result: Number, params: []Type{Number}, agg: true, lite: "-"},
	"stddev_samp":      {min: 1, max: 1, result: Number, params: []Type{Number}, agg: true, lite: "-"},
	"variance":         {min: 1, max: 1, result: Number, params: []Type{Number}, agg: true, lite: "-"},
	"var_pop":          {min: 1, max: 1, result: Number, params: []Type{Number}, agg: true, lite: "-"},
	"var_samp":         {min: 1, max: 1, result: Number, params: []Type{Number}, agg: true, lite: "-"},
	"corr":             {min: 2, max: 2, result: Number, agg: true, lite: "-"},
	"percentile_cont":  {min: 1, max: 1, result: Number, agg: true, lite: "-", ordered: true},
	"percentile_disc":  {min: 1, max: 1, result: Any, agg: true, lite: "-", ordered: true},
	"mode":             {result: Any, agg: true, lite: "-", ordered: true},

	"row_number":   {result: Integer, win: true},
	"rank":         {result: Integer, win: true},
	"dense_rank":   {result: Integer, win: true},
	"percent_rank": {result: Number, win: true},
	"cume_dist":    {result: Number, win: true},
	"ntile":        {min: 1, max: 1, result: Integer, win: true},
	"lag":          {min: 1, max: 3, sameAs: 1, win: true},
	"lead":         {min: 1, max: 3, sameAs: 1, win: true},
	"first_value":  {min: 1, max: 1, sameAs: 1, win: true},
	"last_value":   {min: 1, max: 1, sameAs: 1, win: true},
	"nth_value":    {min: 2, max: 2, sameAs: 1, win: true},

	"coalesce": {min: 1, max: many, sameAs: 1},
	"nullif":   {min: 2, max: 2, sameAs: 1},
	"greatest": {min: 1, max: many, sameAs: 1, lite: "p8_greatest"},
	"least":    {min: 1, max: many, sameAs: 1, lite: "p8_least"},

	"length":           {min: 1, max: 1, result: Integer, params: []Type{Text}},
	"char_length":      {min: 1, max: 1, result: Integer, params: []Type{Text}, lite: "length"},
	"character_length": {min: 1, max: 1, result: Integer, params: []Type{Text}, lite: "length"},
	"octet_length":     {min: 1, max: 1, result: Integer, params: []Type{Text}},
	"lower":            {min: 1, max: 1, result: Text, params: []Type{Text}, lite: "p8_lower"},
	"upper":            {min: 1, max: 1, result: Text, params: []Type{Text}, lite: "p8_upper"},
	"initcap":          {min: 1, max: 1, result: Text, params: []Type{Text}, lite: "p8_initcap"},
	"left":             {min: 2, max: 2, result: Text, params: []Type{Text, Integer}, lite: "p8_left"},
	"right":            {min: 2, max: 2, result: Text, params: []Type{Text, Integer}, lite: "p8_right"},
	"substr":           {min: 2, max: 3, result: Text, params: []Type{Text, Integer}, lite: "p8_substr"},
	"substring":        {min: 2, max: 3, result: Text, params: []Type{Text, Integer}, lite: "p8_substr", pg: "substr"},
	"trim":             {min: 1, max: 2, result: Text, params: []Type{Text}, lite: "p8_trim", pg: "btrim"},
	"btrim":            {min: 1, max: 2, result: Text, params: []Type{Text}, lite: "p8_trim"},
	"ltrim":            {min: 1, max: 2, result: Text, params: []Type{Text}, lite: "p8_ltrim"},
	"rtrim":            {min: 1, max: 2, result: Text, params: []Type{Text}, lite: "p8_rtrim"},
	"replace":          {min: 3, max: 3, result: Text, params: []Type{Text}, lite: "p8_replace", grows: true},
	"position":         {min: 2, max: 2, result: Integer, params: []Type{Text}, lite: "p8_strpos", pg: "strpos"},
	"strpos":           {min: 2, max: 2, result: Integer, params: []Type{Text}, lite: "p8_strpos"},
	"split_part":       {min: 3, max: 3, result: Text, params: []Type{Text, Text, Integer}, lite: "p8_split_part"},
	"concat":           {min: 1, max: many, result: Text, grows: true},
	"concat_ws":        {min: 2, max: many, result: Text, params: []Type{Text, Any}, grows: true},
	"repeat":           {min: 2, max: 2, result: Text, params: []Type{Text, Integer}, lite: "p8_repeat", grows: true},
	"lpad":             {min: 2, max: 3, result: Text, params: []Type{Text, Integer, Text}, lite: "p8_lpad", grows: true},
	"rpad":             {min: 2, max: 3, result: Text, params: []Type{Text, Integer, Text}, lite: "p8_rpad", grows: true},
	"reverse":          {min: 1, max: 1, result: Text, params: []Type{Text}, lite: "p8_reverse"},
	"starts_with":      {min: 2, max: 2, result: Boolean, params: []Type{Text}, lite: "p8_starts_with"},
	"md5":              {min: 1, max: 1, result: Text, params: []Type{Text}, lite: "p8_md5"},
	"ascii":            {min: 1, max: 1, result: Integer, params: []Type{Text}, lite: "p8_ascii"},
	"translate":        {min: 3, max: 3, result: Text, params: []Type{Text}, lite: "-"},
	"regexp_replace":   {min: 3, max: 4, result: Text, params: []Type{Text}, lite: "-", grows: true},
	"to_char":          {min: 2, max: 2, result: Text, params: []Type{Any, Text}, lite: "p8_to_char"},

	"abs":     {min: 1, max: 1, sameAs: 1, params: []Type{Number}},
	"round":   {min: 1, max: 2, result: Number, params: []Type{Number}, lite: "p8_round"},
	"ceil":    {min: 1, max: 1, result: Number, params: []Type{Number}},
	"ceiling": {min: 1, max: 1, result: Number, params: []Type{Number}, lite: "ceil"},
	"floor":   {min: 1, max: 1, result: Number, params: []Type{Number}},
	"trunc":   {min: 1, max: 1, result: Number, params: []Type{Number}},
	"sqrt":    {min: 1, max: 1, result: Number, params: []Type{Number}},
	"power":   {min: 2, max: 2, result: Number, params: []Type{Number}},
	"exp":     {min: 1, max: 1, result: Number, params: []Type{Number}},
	"ln":      {min: 1, max: 1, result: Number, params: []Type{Number}},
	"log":     {min: 1, max: 1, result: Number, params: []Type{Number}, lite: "log10"},
	"mod":     {min: 2, max: 2, sameAs: 1, params: []Type{Number}, lite: "%"},
	"sign":    {min: 1, max: 1, result: Number, params: []Type{Number}},
	"random":  {result: Number, lite: "p8_random"},

	"now":                   {result: Timestamp},
	"transaction_timestamp": {result: Timestamp, pg: "now"},
	"statement_timestamp":   {result: Timestamp, pg: "now"},
	"clock_timestamp":       {result: Timestamp, pg: "now"},
	"current_timestamp":     {result: Timestamp, pg: "now"},
	"localtimestamp":        {result: Timestamp, pg: "now"},
	"current_date":          {result: Date},
	"date":                  {min: 1, max: 1, result: Date, params: []Type{Timestamp}},
	"date_trunc":            {min: 2, max: 2, result: Timestamp, params: []Type{Text, Timestamp}, lite: "p8_date_trunc"},
	"date_part":             {min: 2, max: 2, result: Number, params: []Type{Text, Timestamp}, lite: "p8_extract"},
	"extract":               {min: 2, max: 2, result: Number, params: []Type{Text, Timestamp}, lite: "p8_extract"},
	"to_timestamp":          {min: 1, max: 1, result: Timestamp, params: []Type{Number}, lite: "p8_from_epoch"},
	"age":                   {min: 1, max: 2, result: Interval, params: []Type{Timestamp}, lite: "-"},
	"make_date":             {min: 3, max: 3, result: Date, lite: "-"},

	"json_array_length":       {min: 1, max: 1, result: Integer, params: []Type{JSON}, pg: "jsonb_array_length"},
	"jsonb_array_length":      {min: 1, max: 1, result: Integer, params: []Type{JSON}, lite: "json_array_length"},
	"cardinality":             {min: 1, max: 1, result: Integer, params: []Type{JSON}, lite: "json_array_length", pg: "jsonb_array_length"},
	"json_typeof":             {min: 1, max: 1, result: Text, params: []Type{JSON}, lite: "p8_json_typeof", pg: "jsonb_typeof"},
	"jsonb_typeof":            {min: 1, max: 1, result: Text, params: []Type{JSON}, lite: "p8_json_typeof"},
	"json_build_object":       {max: many, result: JSON, params: []Type{Any}, lite: "json_object", pg: "jsonb_build_object"},
	"jsonb_build_object":      {max: many, result: JSON, params: []Type{Any}, lite: "json_object"},
	"json_build_array":        {max: many, result: JSON, params: []Type{Any}, lite: "json_array", pg: "jsonb_build_array"},
	"jsonb_build_array":       {max: many, result: JSON, params: []Type{Any}, lite: "json_array"},
	"jsonb_pretty":            {min: 1, max: 1, result: Text, params: []Type{JSON}, lite: "-"},
	"jsonb_strip_nulls":       {min: 1, max: 1, result: JSON, params: []Type{JSON}, lite: "-"},
	"to_json":                 {min: 1, max: 1, result: JSON, lite: "-", pg: "to_jsonb"},
	"to_jsonb":                {min: 1, max: 1, result: JSON, lite: "-"},
	"jsonb_extract_path":      {min: 2, max: many, result: JSON, params: []Type{JSON, Text}, lite: "-"},
	"jsonb_extract_path_text": {min: 2, max: many, result: Text, params: []Type{JSON, Text}, lite: "-"},

	"json_array_elements":       {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each", pg: "jsonb_array_elements"},
	"jsonb_array_elements":      {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each"},
	"json_array_elements_text":  {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each", pg: "jsonb_array_elements_text"},
	"jsonb_array_elements_text": {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each"},
	"unnest":                    {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each", pg: "jsonb_array_elements_text"},
	"json_each":                 {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each", pg: "jsonb_each"},
	"jsonb_each":                {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each"},
	"json_each_text":            {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each", pg: "jsonb_each_text"},
	"jsonb_each_text":           {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each"},
	"json_object_keys":          {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each", pg: "jsonb_object_keys"},
	"jsonb_object_keys":         {min: 1, max: 1, params: []Type{JSON}, set: true, lite: "json_each"},
}

// liteOnly are the functions that SQLite's variant may call although the caller's text does
// not.
var liteOnly = strings.Fields(`json json_each json_array json_group_array string_agg mod power nullif julianday date substr "->"
	p8_add p8_bool p8_bool_string p8_concat p8_concat_ws p8_element p8_element_text p8_int p8_join p8_json p8_json_all p8_json_any
	p8_json_contains p8_json_has p8_json_string p8_json_text p8_left p8_like p8_number p8_number_string p8_regex p8_regex_fold
	p8_round p8_seconds p8_time p8_time_json p8_time_string`)

// SQLiteFunctions returns the names of all functions that SQLite's variant of a
// statement may call.
func SQLiteFunctions() map[string]bool {
	all := make(map[string]bool)
	for name, f := range functions {
		switch f.lite {
		case "-", "%":
		case "":
			all[name] = true
		default:
			all[f.lite] = true
		}
	}
	for _, name := range liteOnly {
		all[strings.Trim(name, `"`)] = true
	}
	return all
}

// setColumns returns the columns of a function in FROM, by its name on PostgreSQL.
func setColumns(pg string) []Column {
	switch pg {
	case "jsonb_array_elements":
		return []Column{{Name: "value", Type: JSON}}
	case "jsonb_each":
		return []Column{{Name: "key", Type: Text}, {Name: "value", Type: JSON}}
	case "jsonb_each_text":
		return []Column{{Name: "key", Type: Text}, {Name: "value", Type: Text}}
	}
	return []Column{{Name: "value", Type: Text}}
}

// postgresName returns the name of a call on PostgreSQL.
func (c *call) postgresName() string {
	if c.spec.pg != "" {
		return c.spec.pg
	}
	return c.name
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

func setFunctions() string {
	var out []string
	for _, n := range functionNames() {
		if functions[n].set && strings.HasPrefix(n, "jsonb") {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

// maxReplacement bounds the text that replace() and string_agg() insert, in bytes.
const maxReplacement = 100

// check returns the mistake of a call, nil for none.
func (c *call) check() *fault {
	switch {
	case c.spec.win && c.over == nil:
		return faultf(c.at, "%s() needs OVER (…)", c.name)
	case c.over != nil && !c.spec.win && !c.spec.agg:
		return faultf(c.at, "%s() takes no OVER: it is neither an aggregate nor a window function", c.name)
	case !c.spec.agg && (c.distinct || c.filter != nil || c.order != nil):
		return faultf(c.at, "%s() is no aggregate: it takes no DISTINCT, ORDER BY or FILTER", c.name)
	case c.spec.ordered != (c.within != nil):
		if c.spec.ordered {
			return faultf(c.at, "%s() needs WITHIN GROUP (ORDER BY …)", c.name)
		}
		return faultf(c.at, "%s() takes no WITHIN GROUP", c.name)
	case c.name == "count" && !c.star && len(c.args) == 0:
		return faultf(c.at, "write count(*)")
	case strings.HasSuffix(c.name, "build_object") && len(c.args)%2 != 0:
		return faultf(c.at, "%s() takes pairs: a key, a value, …", c.name)
	case c.name == "replace" || c.name == "regexp_replace":
		// Nested replacements could make a short statement produce a text of any size.
		if l, ok := c.args[2].(*literal); !ok || l.kind != str || len(l.text) > maxReplacement {
			return faultf(c.args[2].base().at, "the third argument of %s() is a text in quotes of at most %d bytes", c.name, maxReplacement)
		}
	case c.name == "string_agg":
		if l, ok := c.args[1].(*literal); !ok || l.kind != str || len(l.text) > maxReplacement {
			return faultf(c.args[1].base().at, "the separator of string_agg() is a text in quotes of at most %d bytes", maxReplacement)
		}
	case c.name == "extract" || c.name == "date_part" || c.name == "date_trunc":
		return c.checkField()
	}
	return nil
}

var (
	extractFields = []string{"year", "month", "day", "hour", "minute", "second", "epoch", "dow", "isodow", "doy", "week", "quarter", "isoyear"}
	truncFields   = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second"}
)

func (c *call) checkField() *fault {
	fields := extractFields
	if c.name == "date_trunc" {
		fields = truncFields
	}
	l, ok := c.args[0].(*literal)
	if !ok || l.kind != str {
		return faultf(c.at, "the first argument of %s() is one of %s, in quotes", c.name, strings.Join(fields, ", "))
	}
	f := lowerASCII(l.text)
	if f != "second" && strings.HasSuffix(f, "s") {
		f = strings.TrimSuffix(f, "s")
	}
	if f = strings.TrimSuffix(f, "s"); !slices.Contains(fields, f) {
		return faultf(l.at, "%s() has no field %.30q; fields are %s", c.name, l.text, strings.Join(fields, ", "))
	}
	l.text, l.typ = f, Text
	return nil
}

// SetFunction reports whether the gate may print a PostgreSQL function in FROM.
func SetFunction(name string) bool {
	for n, f := range functions {
		if f.set && (n == name || f.pg == name) {
			return true
		}
	}
	return false
}

package config

import (
	"errors"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"

	"github.com/p8-org/p8/internal/near"
)

// Options says where settings come from.
type Options struct {
	// Environ is the environment as "NAME=value"; normally os.Environ().
	Environ []string
	// DotEnv is the path of the .env file, "" for none. A missing file is fine.
	DotEnv string
	// Flags are the command-line flags that were given.
	Flags []Flag
	// GOOS is the platform whose data folder is used; this one if empty.
	GOOS string
}

// Flag is a command-line flag that overrides a setting.
type Flag struct {
	// Env is the setting, such as "P8_PORT".
	Env string
	// Name is the flag as it was typed, such as "--port".
	Name  string
	Value string
}

// Load resolves all settings. The error has a line per bad value, which names the
// variable, the problem and what to write instead.
func Load(o Options) (*Config, error) {
	environ := env.ToMap(o.Environ)
	file, err := readDotEnv(o.DotEnv)
	if err != nil {
		return nil, err
	}
	fields := declared()
	secrets, err := readSecrets(fields, environ)
	more, alsoErr := readSecrets(fields, file)
	if err := errors.Join(err, alsoErr); err != nil {
		return nil, err
	}
	values, entries := resolve(fields, o.Flags, environ, file)

	c := &Config{fields: fields, entries: entries, secretFiles: append(secrets, more...), unknown: unknown(fields, environ, file), lookup: func(name string) string {
		if v := environ[name]; v != "" {
			return v
		}
		return file[name]
	}}
	c.environ = o.Environ
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if environ[name] == "" {
			c.environ = append(c.environ[:len(c.environ):len(c.environ)], name+"="+file[name])
		}
	}
	var problems []error
	if err := env.ParseWithOptions(c, env.Options{Environment: values}); err != nil {
		if problems = badValues(err, fields, entries, values); problems == nil {
			return nil, err
		}
		// Go on with the defaults to report all other problems too.
		if err := env.ParseWithOptions(c, env.Options{Environment: values}); err != nil {
			return nil, errors.Join(problems...)
		}
	}
	goos := o.GOOS
	if goos == "" {
		goos = runtime.GOOS
	}
	if err := c.complete(goos); err != nil {
		return nil, errors.Join(append(problems, err)...)
	}
	if problems = append(problems, c.check(fields)...); problems != nil {
		return nil, errors.Join(problems...)
	}
	return c, nil
}

// resolve returns the values that are not defaults, with their origins.
func resolve(fields []field, flags []Flag, environ, file map[string]string) (map[string]string, []Entry) {
	values := make(map[string]string)
	entries := make([]Entry, len(fields))
	for i, f := range fields {
		e := Entry{Name: f.env, Value: f.value, Origin: "default", secret: f.secret}
		if v, origin := f.find(flags, environ, file); origin != "" {
			values[f.env], e.Value, e.Origin = v, v, origin
		}
		entries[i] = e
	}
	return values, entries
}

// find returns the first value that is set, and its origin; both are "" if no value is set.
func (f field) find(flags []Flag, environ, file map[string]string) (value, origin string) {
	for _, flag := range flags {
		if flag.Env == f.env {
			return flag.Value, "flag " + flag.Name
		}
	}
	for _, source := range []struct {
		name string
		vars map[string]string
	}{{"environment ", environ}, {".env ", file}} {
		if v := source.vars[f.env]; v != "" {
			return v, source.name + f.env
		}
		if v := source.vars[f.env+inFile]; v != "" && f.mayBeInFile() {
			return v, source.name + f.env + inFile
		}
		// REM and REMLight have a separate variable to disable storage.
		if f.env == "P8_DATABASE_URL" {
			for _, name := range []string{"POSTGRES__ENABLED", "POSTGRES_ENABLED"} {
				if isFalse(source.vars[name]) {
					return databaseNone, source.name + name
				}
			}
		}
		for _, name := range f.aliases {
			if v := source.vars[name]; v != "" {
				return v, source.name + name
			}
		}
	}
	return "", ""
}

func isFalse(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "false", "0", "no", "off":
		return true
	}
	return false
}

// prefix begins the names of settings.
const prefix = "P8_"

// Unknown is a variable with a setting's prefix that is not a setting.
type Unknown struct {
	Name string
	// Near is the setting that was perhaps meant, "" if none has a similar name.
	Near string
}

// unknown returns the P8_ variables that are not settings, by name.
func unknown(fields []field, sources ...map[string]string) []Unknown {
	var known []string // without the prefix, which would make all names similar
	for _, f := range fields {
		for _, name := range append([]string{f.env}, f.aliases...) {
			if rest, ok := strings.CutPrefix(name, prefix); ok {
				known = append(known, rest)
				if f.mayBeInFile() {
					known = append(known, rest+inFile)
				}
			}
		}
	}
	var names []string
	for _, vars := range sources {
		for name := range vars {
			if rest, ok := strings.CutPrefix(name, prefix); ok && !slices.Contains(known, rest) {
				names = append(names, rest)
			}
		}
	}
	slices.Sort(names)
	var list []Unknown
	for _, name := range slices.Compact(names) {
		u := Unknown{Name: prefix + name}
		if similar := near.Names(name, known, 1); len(similar) > 0 {
			u.Near = prefix + similar[0]
		}
		list = append(list, u)
	}
	return list
}

// field is a setting, from the tags of Config.
type field struct {
	name    string // of the Go field
	env     string
	value   string // default
	help    string
	want    string
	aliases []string
	secret  bool
}

// declared returns the settings in the order of Config.
func declared() []field {
	var all []field
	for _, sf := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		name, ok := sf.Tag.Lookup("env")
		if !ok {
			continue
		}
		f := field{
			name: sf.Name, env: name, value: sf.Tag.Get("envDefault"),
			help: sf.Tag.Get("help"), want: sf.Tag.Get("want"), secret: sf.Tag.Get("secret") != "",
		}
		if a := sf.Tag.Get("alias"); a != "" {
			f.aliases = strings.Split(a, ",")
		}
		all = append(all, f)
	}
	return all
}

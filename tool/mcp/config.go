package mcp

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
)

// The transports.
const (
	kindStdio      = "stdio"
	kindStreamable = "http"
	kindSSE        = "sse"
	// kindAuto is an address of unknown kind: streamable HTTP is tried first.
	kindAuto = ""
)

// entry is the configuration of one server.
type entry struct {
	// name is the one for documents and messages, key the normalised one.
	name string
	kind string

	command string
	args    []string
	env     map[string]string
	cwd     string

	url     *url.URL
	headers map[string]string
	oauth   *oauthEntry

	// unnamed is true if no setting names the server.
	unnamed bool
	// inEnv is true if the address comes from the environment, token if a token does.
	inEnv, token bool
}

// oauthEntry is a client of an authorization server.
type oauthEntry struct {
	// asksPerson is true if a person signs in; otherwise p8 itself does (client
	// credentials).
	asksPerson                       bool
	clientID, clientSecret, tokenURL string
	scopes                           []string
}

// key normalises a name: MY_DATA, my_data and my-data are the same.
func key(name string) string {
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// variableName returns the variable with the address of a server.
func variableName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key(name), "-", "_"))
}

const (
	envPrefix   = "MCP_SERVER_"
	tokenSuffix = "_TOKEN"
)

// maxConfig bounds the mcpServers file, in bytes; maxServers the number of servers.
const (
	maxConfig  = 1 << 20
	maxServers = 200
)

// readConfig returns every server of the environment and of the file, by its key. The
// error names every problem.
func readConfig(o Options) (map[string]*entry, error) {
	entries := map[string]*entry{}
	var errs []error
	if o.ConfigFile != "" {
		src, err := readFile(o.ConfigFile)
		if err != nil {
			return nil, err
		}
		f := &configFile{name: o.ConfigFile, src: src, getenv: o.Getenv, log: o.Logger}
		errs = append(errs, f.read(entries)...)
	}
	errs = append(errs, readEnvironment(o, entries)...)
	if len(entries) > maxServers {
		errs = append(errs, fmt.Errorf("there are %d MCP servers: at most %d are possible", len(entries), maxServers))
	}
	return entries, errors.Join(errs...)
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("the file of MCP servers cannot be read: %w", err)
	}
	if info.Size() > maxConfig {
		return nil, fmt.Errorf("%s: the file has %d bytes: a file of MCP servers has at most %d", name, info.Size(), maxConfig)
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the file of MCP servers cannot be read: %w", err)
	}
	return src, nil
}

// readEnvironment adds the servers of the environment, which replace the file's, and
// their tokens.
func readEnvironment(o Options, entries map[string]*entry) []error {
	values := map[string]string{}
	for _, line := range o.Environ {
		name, value, _ := strings.Cut(line, "=")
		if value = strings.TrimSpace(value); value != "" && strings.HasPrefix(name, envPrefix) && name != envPrefix {
			values[name] = value
		}
	}
	var errs []error
	var tokens []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if isToken(name, values[name]) {
			tokens = append(tokens, name)
			continue
		}
		k := key(strings.TrimPrefix(name, envPrefix))
		if !usable(k, name, o.Logger) {
			continue
		}
		u, err := parseURL(values[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		e := &entry{name: k, url: u, inEnv: true}
		if old := entries[k]; old != nil {
			e.name = old.name
		}
		entries[k] = e
	}
	for _, name := range tokens {
		k := key(strings.TrimSuffix(strings.TrimPrefix(name, envPrefix), tokenSuffix))
		e := entries[k]
		if e == nil || e.kind == kindStdio {
			o.Logger.Warn("a token of an MCP server without an address is not used", "variable", name)
			continue
		}
		e.headers = maps.Clone(e.headers)
		if e.headers == nil {
			e.headers = map[string]string{}
		}
		e.headers["Authorization"], e.token = "Bearer "+values[name], true
	}
	return errs
}

// isToken distinguishes MCP_SERVER_X_TOKEN, the token of x, from the address of a
// server named x-token.
func isToken(name, value string) bool {
	address := strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")
	return strings.HasSuffix(name, tokenSuffix) && len(name) > len(envPrefix+tokenSuffix) && !address
}

// usable refuses local, the name that documents use for this process, with a warning. The
// name rem means this process, too, but only if no server has it.
func usable(k, where string, log *slog.Logger) bool {
	if k == "local" {
		log.Warn("an MCP server cannot be named local: documents mean this process by it", "where", where)
		return false
	}
	return true
}

// parseURL parses the address of a server. The error does not repeat the address,
// which may hold a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("the address of an MCP server begins with http:// or https:// and a host")
	}
	u.Fragment = ""
	return u, nil
}

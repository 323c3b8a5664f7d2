// Package names knows the names of model providers: their aliases, the models that
// are named without a provider, and the address of a local Ollama.
package names

import "strings"

// bare lists the models that are named without their provider.
var bare = [...]struct{ prefix, provider string }{
	{"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"chatgpt-", "openai"},
	{"claude-", "anthropic"}, {"gemini-", "gemini"},
}

// BareProvider returns the provider of a model that is named without it: openai for
// gpt-…, o1…, o3…, o4… and chatgpt-…, anthropic for claude-…, gemini for
// gemini-…; "" for every other name.
func BareProvider(name string) string {
	for _, b := range bare {
		if strings.HasPrefix(name, b.prefix) {
			return b.provider
		}
	}
	return ""
}

// Provider resolves aliases: gemini for google, google-gla and google-gemini,
// anthropic for claude. Any other name is returned as it is.
func Provider(name string) string {
	switch name {
	case "google", "google-gla", "google-gemini":
		return "gemini"
	case "claude":
		return "anthropic"
	}
	return name
}

// OllamaURL returns the address of an Ollama server from OLLAMA_HOST, which may be
// empty, a host, host:port, :port or a URL. The addresses
// that listen on every interface (0.0.0.0, ::) become loopback.
func OllamaURL(host string) string {
	scheme, rest, found := strings.Cut(strings.TrimSpace(host), "://")
	if !found {
		scheme, rest = "http", scheme
	}
	rest = strings.TrimRight(rest, "/")
	address, path, _ := strings.Cut(rest, "/")
	name, port := address, ""
	if i := strings.LastIndexByte(address, ':'); i >= 0 && !strings.HasSuffix(address, "]") {
		name, port = address[:i], address[i+1:]
	}
	switch name {
	case "", "0.0.0.0", "[::]":
		name = "127.0.0.1"
	}
	if port == "" && !found {
		port = "11434"
	}
	u := scheme + "://" + name
	if port != "" {
		u += ":" + port
	}
	if path != "" {
		u += "/" + path
	}
	return u
}

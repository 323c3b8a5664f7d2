package llm

import "strings"

// withoutClient is the well-known provider that p8 has no client for.
const withoutClient = "google-vertex"

// bare says whose models are named without their provider.
var bare = [...]struct{ prefix, provider string }{
	{"gpt-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"chatgpt-", "openai"},
	{"claude-", "anthropic"}, {"gemini-", "gemini"},
}

// BareProvider is the provider of a model whose name alone tells it: openai for
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

// IsBare reports whether a name is a model's without its provider, such as
// gpt-4.1; it means openai:gpt-4.1.
func IsBare(name string) bool { return BareProvider(name) != "" }

// ProviderName is the one name of a provider that has several: gemini for
// google, google-gla and google-gemini, anthropic for claude. Any other name is
// its own.
func ProviderName(name string) string {
	switch name {
	case "google", "google-gla", "google-gemini":
		return "gemini"
	case "claude":
		return "anthropic"
	}
	return name
}

package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/llm/internal/names"
)

// ChooseOptions configure the choice of the default model.
type ChooseOptions struct {
	// Getenv looks a setting up: the environment, .env, …; "" when unset.
	Getenv func(string) string
	// HTTPClient asks local servers; http.DefaultClient when nil.
	HTTPClient *http.Client
	// Timeout bounds the request to a local server; 200 ms when 0.
	Timeout time.Duration
}

// Choice is the default model and the reason for it.
type Choice struct {
	// Model is "provider:model".
	Model string
	// Reason is one sentence for the operator.
	Reason string
	// Notice is a sentence for the user of the offline model. It is "" if the reason is that
	// nothing is configured.
	Notice string
}

// The default models of providers.
const (
	defaultOpenAIModel    = "openai:gpt-4.1"
	defaultAnthropicModel = "anthropic:claude-sonnet-5-5"
	defaultGeminiModel    = "gemini:gemini-3.8-flash"
	OfflineModel          = "offline:search"
)

// ChooseDefault picks the model for requests that name none: P8_DEFAULT_MODEL
// (LLM__DEFAULT_MODEL), else OpenAI if it has a key or another base URL, else
// Anthropic or Gemini if it has a key, else a local Ollama that answers in time
// and has a chat model, else the offline model. It never fails: the offline
// model needs nothing.
func ChooseDefault(ctx context.Context, o ChooseOptions) Choice {
	if o.HTTPClient == nil {
		o.HTTPClient = http.DefaultClient
	}
	if o.Timeout <= 0 {
		o.Timeout = 200 * time.Millisecond
	}
	if name, v := o.first("P8_DEFAULT_MODEL", "LLM__DEFAULT_MODEL"); v != "" {
		return Choice{Model: v, Reason: name + " names it."}
	}
	if name, key := o.first("P8_OPENAI_API_KEY", "LLM__OPENAI_API_KEY", "OPENAI_API_KEY"); key != "" {
		return Choice{Model: defaultOpenAIModel, Reason: name + " is set."}
	}
	if name, base := o.first("P8_OPENAI_BASE_URL", "OPENAI_BASE_URL"); base != "" {
		return o.compatible(ctx, name, base)
	}
	if name, key := o.first("P8_ANTHROPIC_API_KEY", "LLM__ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"); key != "" {
		return Choice{Model: defaultAnthropicModel, Reason: name + " is set."}
	}
	if name, key := o.first("P8_GEMINI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"); key != "" {
		return Choice{Model: defaultGeminiModel, Reason: name + " is set."}
	}
	host := names.OllamaURL(o.Getenv("OLLAMA_HOST"))
	model, answered := o.ollama(ctx, host)
	if model != "" {
		return Choice{Model: "ollama:" + model, Reason: "Ollama answers at " + host + "."}
	}
	offline := Choice{Model: OfflineModel, Reason: "no language model is configured: no P8_DEFAULT_MODEL, no OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, no Ollama at " + host + "."}
	if answered {
		offline.Reason = "Ollama answers at " + host + " but has no chat model; pull one, as in: ollama pull qwen3"
	}
	if name, key := o.first("P8_AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"); key != "" {
		offline.Notice = name + " is set, but a model there has the name of your deployment: set P8_DEFAULT_MODEL=azure:DEPLOYMENT."
		offline.Reason = offline.Notice
	}
	return offline
}

// first returns the first of the names that is set, and its value.
func (o *ChooseOptions) first(names ...string) (name, value string) {
	for _, name := range names {
		if v := strings.TrimSpace(o.Getenv(name)); v != "" {
			return name, v
		}
	}
	return "", ""
}

// compatible returns a model of a server that is configured only by its base URL.
// Such a server rarely has OpenAI's models, so its list of models is read.
func (o *ChooseOptions) compatible(ctx context.Context, name, base string) Choice {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	choice := Choice{Model: defaultOpenAIModel, Reason: name + " is set."}
	if !o.get(ctx, strings.TrimRight(base, "/")+"/models", &list) {
		return choice
	}
	first := ""
	for _, m := range list.Data {
		if "openai:"+m.ID == defaultOpenAIModel {
			return choice
		}
		if first == "" && isChatModel(m.ID) {
			first = m.ID
		}
	}
	if first != "" {
		choice = Choice{Model: "openai:" + first, Reason: name + " is set, and it is the first model there."}
	}
	return choice
}

// ollama returns the first chat model of an Ollama server, and whether the server
// answered.
func (o *ChooseOptions) ollama(ctx context.Context, host string) (model string, answered bool) {
	var tags struct {
		Models []struct {
			Name    string `json:"name"`
			Details struct {
				Family string `json:"family"`
			} `json:"details"`
		} `json:"models"`
	}
	if !o.get(ctx, host+"/api/tags", &tags) {
		return "", false
	}
	for _, m := range tags.Models {
		if isChatModel(m.Name) && !strings.Contains(m.Details.Family, "bert") {
			return m.Name, true
		}
	}
	return "", true
}

// isChatModel reports whether the name is not one of an embedding model.
func isChatModel(name string) bool { return name != "" && !strings.Contains(name, "embed") }

// get reads a JSON answer, within the timeout and a megabyte.
func (o *ChooseOptions) get(ctx context.Context, url string, into any) bool {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := o.HTTPClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK && json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(into) == nil
}

package foreign

import (
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// model puts the model of an agent: a key of models, provider/name, or several with commas.
func (t *team) model(b *builder, v *tree.Node) {
	name := strings.TrimSpace(v.Text)
	switch {
	case name == "" || name == "auto":
		return
	case strings.Contains(name, ","):
		t.first(b, v.Pos, name)
		return
	}
	if config := t.file.Root.Get("models").Get(name); config != nil {
		t.configured(b, v.Pos, config)
		return
	}
	b.model(v.Pos, t.named(b, v.Pos, name))
}

// named returns p8's name of a model that the file writes as provider/name. If p8 has no such
// provider, it adds a warning and returns "".
func (t *team) named(b *builder, pos tree.Position, name string) string {
	provider, model, found := strings.Cut(name, "/")
	if found {
		return b.modelOf(pos, provider, model)
	}
	for _, prefix := range []string{"gpt-", "claude-", "gemini-"} {
		if strings.HasPrefix(name, prefix) {
			return name
		}
	}
	b.note(pos, modelHint, "the model %q is left out: models has no such key, and it names no provider", clip(name))
	return ""
}

// configured puts a model of models with its settings.
func (t *team) configured(b *builder, pos tree.Position, config *tree.Node) {
	provider, name := "", ""
	for _, m := range config.Members {
		switch m.Key {
		case "provider", "type":
			provider = m.Value.Str()
		case "model":
			name = m.Value.Str()
		}
	}
	if provider == "" && strings.Contains(name, ",") {
		t.first(b, pos, name)
		return
	}
	switch base := config.Get("base_url"); {
	case provider == "":
		b.model(pos, t.named(b, pos, name))
	case t.file.Root.Get("providers").Get(provider) != nil:
		b.note(pos, "set OPENAI_BASE_URL and write openai:"+clip(name), "the model %q is left out: p8 takes the address of a provider from the environment", clip(name))
	default:
		b.model(pos, b.modelOf(pos, provider, name))
		if base != nil {
			b.note(base.Pos, "set the address of the provider in the environment, such as OPENAI_BASE_URL", "base_url is left out")
		}
	}
	for _, m := range config.Members {
		switch m.Key {
		case "provider", "type", "model", "base_url", "track_usage":
		case "temperature", "max_tokens", "top_p":
			b.take(m.Key, m)
		case "thinking_budget":
			b.effort(m)
		case "token_key":
			b.leave(m, "p8 takes keys from the environment, such as OPENAI_API_KEY")
		default:
			b.leave(m, "p8 has no such setting of a model")
		}
	}
}

// first puts the first of several models.
func (t *team) first(b *builder, pos tree.Position, names string) {
	name, others, _ := strings.Cut(names, ",")
	b.note(pos, "name the others in fallback", "only the first of the models answers; left out: %s", clip(strings.TrimSpace(others)))
	name = strings.TrimSpace(name)
	if config := t.file.Root.Get("models").Get(name); config.Get("provider") != nil {
		t.configured(b, pos, config)
		return
	}
	b.model(pos, t.named(b, pos, name))
}

// fallback puts the models that take over.
func (t *team) fallback(b *builder, m tree.Member) {
	models := m.Value.Get("models")
	if models == nil || models.Kind != tree.Array {
		b.leave(m, "write the models in fallback")
		return
	}
	list := &tree.Node{Kind: tree.Array, Pos: models.Pos}
	for _, v := range models.Items {
		name := strings.TrimSpace(v.Str())
		if config := t.file.Root.Get("models").Get(name); config != nil {
			name = config.Get("provider").Str() + "/" + config.Get("model").Str()
		}
		if name = t.named(b, v.Pos, name); name != "" {
			list.Items = append(list.Items, text(name, v.Pos))
		}
	}
	if len(list.Items) > 0 {
		b.put("fallback", m.Pos, list)
	}
	for _, k := range m.Value.Members {
		if k.Key != "models" {
			b.leave(k, "p8 decides when a model is tried again")
		}
	}
}

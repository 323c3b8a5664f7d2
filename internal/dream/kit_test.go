package dream_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// as returns the context of a user of the tenant acme.
func as(ctx context.Context, user string) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: "acme", UserID: user, Name: strings.ToUpper(user)})
}

// models has one model, under every name.
type models struct{ llm.Model }

func (m models) Resolve(string) (llm.Model, error) { return m.Model, nil }

// kit is a deployment: a store that outlives its processes, and one process.
type kit struct {
	*testing.T
	store *store.Store
	model *scripted.Model
	chat  *chat.Service
	*dream.Service
	options dream.Options
	// wrap wraps save_moments; nil does not.
	wrap func(tool.Tool) tool.Tool
}

// onSQLite returns a kit with an embedded store; its model plays the turns.
func onSQLite(t *testing.T, turns ...scripted.Turn) *kit {
	t.Helper()
	k := &kit{T: t, store: database.Open(t)}
	k.process(turns...)
	return k
}

// process starts another process on the kit's store, with its own model.
func (k *kit) process(turns ...scripted.Turn) {
	k.Helper()
	k.model = scripted.New(turns...)
	k.chat = k.service()
	var err error
	k.Service, err = dream.New(k.optionsOf())
	must(k, err)
}

// optionsOf are the kit's options, of this process.
func (k *kit) optionsOf() dream.Options {
	k.Helper()
	o := k.options
	o.Store, o.Chat, o.Logger = k.store, k.chat, slog.New(slog.DiscardHandler)
	var err error
	o.Builder, err = memory.NewBuilder(memory.BuilderOptions{Store: k.store, Threshold: 100})
	must(k, err)
	return o
}

func (k *kit) service() *chat.Service {
	k.Helper()
	found, err := catalog.New(catalog.Options{Builtin: agents.Files()})
	must(k, err)
	list, err := builtin.Tools(builtin.Options{Store: k.store, Engine: rem.New(rem.Options{Knowledge: k.store})})
	must(k, err)
	for i, x := range list {
		if k.wrap != nil && x.Spec().Name == "save_moments" {
			list[i] = k.wrap(x)
		}
	}
	local, err := tool.NewRegistry(list...)
	must(k, err)
	c, err := chat.New(chat.Options{
		Catalog: found, Models: models{k.model}, Tools: &tool.Box{Local: local}, Store: k.store, Logger: slog.New(slog.DiscardHandler),
	})
	must(k, err)
	k.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		must(k, c.Close(ctx))
	})
	return c
}

// dreams runs a dream, which must succeed.
func (k *kit) dreams(ctx context.Context, req dream.Request) dream.Result {
	k.Helper()
	res, err := k.Dream(ctx, req)
	must(k, err)
	return res
}

// answer is the dreaming agent's answer: one dream, connected with a key.
func answer(name, target string) scripted.Turn {
	turn := scripted.Call("final_result", `{"dream_moments":[{"name":"`+name+`","summary":"It adds up.","topic_tags":["trains"],"emotion_tags":[],
		"affinity_fragments":[{"target":"`+target+`","relation":"builds_on","weight":0.8,"reason":"both are late"}]}],
		"search_questions":[],"cross_session_themes":[]}`)
	turn.Usage = llm.Usage{Input: 1000, Output: 100}
	return turn
}

// profile is the answer of the agent that writes profiles.
func profile(content string, interests ...string) scripted.Turn {
	list, _ := json.Marshal(append([]string{}, interests...))
	turn := scripted.Call("final_result", `{"content":"`+content+`","interests":`+string(list)+`,"preferred_topics":["rail"]}`)
	turn.Usage = llm.Usage{Input: 10, Output: 1}
	return turn
}

// say stores a turn of a session.
func (k *kit) say(ctx context.Context, session string, texts ...string) {
	k.Helper()
	k.sayAs(ctx, store.Session{ID: session, Name: "About " + session}, texts...)
}

func (k *kit) sayAs(ctx context.Context, session store.Session, texts ...string) {
	k.Helper()
	var rows []*store.Message
	for i, text := range texts {
		kind := []string{store.MessageUser, store.MessageAssistant}[i%2]
		rows = append(rows, &store.Message{Type: kind, Content: &text, TokenCount: llm.EstimateTokens(text)})
	}
	must(k, k.store.BeginTurn(ctx, session, rows...))
}

// live gives a user a day: a conversation, a moment, a file, a page.
func (k *kit) live(ctx context.Context) {
	k.Helper()
	who, err := identity.From(ctx)
	must(k, err)
	k.say(ctx, "talk-"+who.UserID, "Why are the trains late?", "Because of the snow.")
	must(k, k.store.Moments().Put(ctx, &store.Moment{Name: "Standup", MomentType: "meeting", Summary: "We spoke of timetables.", TopicTags: []string{"rail"}}))
	must(k, k.store.Ontologies().Put(ctx, &store.Ontology{Name: "Project Alpha", Content: "A timetable."}))
	must(k, k.store.Files().Put(ctx, &store.File{Name: "delays.csv", Status: store.FileCompleted, ParsedContent: "line,minutes"}))
}

// prompts returns the texts of the model's requests.
func (k *kit) prompts() (out []string) {
	for _, req := range k.model.Requests() {
		var b strings.Builder
		for _, m := range req.Messages {
			b.WriteString(m.Content + "\n")
		}
		out = append(out, b.String())
	}
	return out
}

// kept returns the names of the caller's dreams.
func (k *kit) kept(ctx context.Context) (names []string) {
	k.Helper()
	list, _, err := k.store.Moments().Find(ctx, store.Filter{Equal: map[string]any{"moment_type": "dream"}})
	must(k, err)
	for _, m := range list {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// reached returns the keys that TRAVERSE finds from a key.
func (k *kit) reached(ctx context.Context, key string) (keys []string) {
	k.Helper()
	res, err := rem.New(rem.Options{Knowledge: k.store}).Run(ctx, "TRAVERSE "+key+" DEPTH 1")
	must(k, err)
	for _, row := range res.Results {
		keys = append(keys, row.Key)
	}
	return keys
}

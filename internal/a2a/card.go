package a2a

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/p8-org/p8/internal/auth"
)

// The versions of the protocol, and its transports.
const (
	version10 = "1.0"
	version03 = "0.3"
	jsonRPC   = "JSONRPC"
	httpJSON  = "HTTP+JSON"
)

// agentCard describes an agent and its address. URL, PreferredTransport, ProtocolVersion,
// StateHistory and Security are for clients of version 0.3. There are no securityRequirements:
// the clients for Go and for Python read them in forms of their own, and refuse a card with
// the other's; the one for Python also reads Security.
type agentCard struct {
	Name               string                    `json:"name"`
	Description        string                    `json:"description"`
	Interfaces         []agentInterface          `json:"supportedInterfaces"`
	Provider           *provider                 `json:"provider,omitempty"`
	Version            string                    `json:"version"`
	Capabilities       capabilities              `json:"capabilities"`
	SecuritySchemes    map[string]securityScheme `json:"securitySchemes,omitempty"`
	Security           []map[string][]string     `json:"security,omitempty"`
	InputModes         []string                  `json:"defaultInputModes"`
	OutputModes        []string                  `json:"defaultOutputModes"`
	Skills             []skill                   `json:"skills"`
	URL                string                    `json:"url"`
	PreferredTransport string                    `json:"preferredTransport"`
	ProtocolVersion    string                    `json:"protocolVersion"`
}

// securityScheme is how callers show who they are: HTTPAuth in version 1.0, the rest in 0.3.
type securityScheme struct {
	HTTPAuth httpAuth `json:"httpAuthSecurityScheme"`
	Type     string   `json:"type"`
	httpAuth
}

type httpAuth struct {
	Scheme string `json:"scheme"`
}

type agentInterface struct {
	URL     string `json:"url"`
	Binding string `json:"protocolBinding"`
	Version string `json:"protocolVersion"`
}

// provider is who offers the agent.
type provider struct {
	Organization string `json:"organization"`
	URL          string `json:"url"`
}

type capabilities struct {
	Streaming         bool `json:"streaming"`
	PushNotifications bool `json:"pushNotifications"`
	StateHistory      bool `json:"stateTransitionHistory"`
	ExtendedAgentCard bool `json:"extendedAgentCard"`
}

type skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// card serves the card of the agent in the path.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	a, err := s.agent(r.Context(), r.PathValue("agent"))
	if err != nil {
		status := http.StatusNotFound
		if !errors.Is(err, errNoAgent) {
			status = http.StatusInternalServerError
			s.o.Logger.Error("find an agent", "error", err)
		}
		writeJSON(w, status, response{JSONRPC: "2.0", ID: null, Error: s.errorOf(err)})
		return
	}
	address := auth.Address(r, s.o.BaseURL) + Prefix + "/" + url.PathEscape(a.name)
	c := agentCard{
		Name: a.name, Description: cmp.Or(a.description, a.name), Version: cmp.Or(a.version, s.o.Version, "1.0.0"),
		Interfaces:   []agentInterface{{address, jsonRPC, version10}, {address, httpJSON, version10}, {address, jsonRPC, version03}},
		Capabilities: capabilities{Streaming: true, PushNotifications: s.pushes()},
		InputModes: []string{
			"text/plain", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf",
		},
		OutputModes: []string{"text/plain"},
		URL:         address, PreferredTransport: jsonRPC, ProtocolVersion: version03 + ".0",
	}
	if a.structured {
		c.OutputModes = []string{"application/json"}
	}
	if s.o.Tokens {
		const name = "bearer"
		auth := httpAuth{"Bearer"}
		c.SecuritySchemes = map[string]securityScheme{name: {auth, "http", auth}}
		c.Security = []map[string][]string{{name: {}}}
	}
	if s.o.Provider != "" {
		c.Provider = &provider{s.o.Provider, auth.Address(r, s.o.BaseURL)}
	}
	c.Skills = []skill{{a.name, a.name, c.Description, []string{"agent"}}}
	w.Header().Set("Cache-Control", "no-cache")
	writeJSON(w, http.StatusOK, c)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	writeAs(w, status, "application/json", v)
}

func writeAs(w http.ResponseWriter, status int, mediaType string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)
	// Fails only if the client has gone.
	_, _ = w.Write(append(b, '\n'))
}

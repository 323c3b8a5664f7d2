package identity

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// The headers of a request. Their case does not matter.
const (
	HeaderUserID    = "X-User-Id"
	HeaderTenantID  = "X-Tenant-Id"
	HeaderUserEmail = "X-User-Email"
	headerUserName  = "X-User-Name"

	HeaderSessionID = "X-Session-Id"
	headerModel     = "X-Model-Name"
	// headerAgent beats headerAgentName, p8's older name.
	headerAgent     = "X-Agent-Schema"
	headerAgentName = "X-Agent-Schema-Name"
	// headerIsEval is set by true, 1 or yes in any case.
	headerIsEval   = "X-Is-Eval"
	HeaderClientID = "X-Client-Id"
)

// FromHeaders believes every header, so it is for callers that are trusted:
// the command line, tests, a gateway's requests. What no header says comes
// from defaults; a user in the headers replaces the default user altogether.
// The error is an *InvalidError that names the header.
func FromHeaders(h http.Header, defaults Identity) (Identity, error) {
	id := defaults
	if err := id.readUser(h); err != nil {
		return Identity{}, err
	}
	if err := id.readRequest(h); err != nil {
		return Identity{}, err
	}
	return id.Normalize()
}

// FromRequest is the identity of an HTTP request.
//
// An identity that is already in the request's context was put there by
// whoever verified a token: its user and tenant stand, whatever the headers
// say. Without one, X-User-Id, X-Tenant-Id, X-User-Email and X-User-Name count
// when trustHeaders says that this deployment believes this caller; else the
// caller is anonymous in the default tenant. Session, agent, model, client and
// evaluation headers always count.
//
// The error is an *InvalidError that names the header.
func FromRequest(r *http.Request, trustHeaders bool) (Identity, error) {
	id, err := From(r.Context())
	if err != nil && trustHeaders {
		if err := id.readUser(r.Header); err != nil {
			return Identity{}, err
		}
	}
	if err := id.readRequest(r.Header); err != nil {
		return Identity{}, err
	}
	return id.Normalize()
}

// readUser takes who is asking from the headers.
func (id *Identity) readUser(h http.Header) error {
	var user, email, name, tenant string
	if err := readAll(h, []header{
		{HeaderUserID, &user}, {HeaderTenantID, &tenant}, {HeaderUserEmail, &email}, {headerUserName, &name},
	}); err != nil {
		return err
	}
	switch {
	case user != "" || email != "":
		// Half of one person and half of another would be nobody.
		id.UserID, id.Email, id.Name, id.UserContext = user, email, name, ""
	case name != "":
		id.Name = name
	}
	if tenant != "" {
		id.TenantID = tenant
	}
	return nil
}

// readRequest takes what is asked for from the headers.
func (id *Identity) readRequest(h http.Header) error {
	var agent, agentName, eval string
	if err := readAll(h, []header{
		{HeaderSessionID, &id.SessionID}, {headerModel, &id.DefaultModel}, {headerAgent, &agent},
		{headerAgentName, &agentName}, {headerIsEval, &eval}, {HeaderClientID, &id.ClientID},
	}); err != nil {
		return err
	}
	if agent == "" {
		agent = agentName
	}
	if agent != "" {
		id.AgentSchemaURI = agent
	}
	if eval != "" {
		id.IsEval = slices.Contains([]string{"true", "1", "yes"}, strings.ToLower(eval))
	}
	return nil
}

// header is where a header's value goes.
type header struct {
	name   string
	target *string
}

// readAll fills the targets of the headers that are present and not blank.
func readAll(h http.Header, headers []header) error {
	for _, to := range headers {
		values := h.Values(to.name)
		if len(values) == 0 {
			continue
		}
		// Two values of one header are how a client talks past a gateway that
		// checks only one of them.
		if len(values) > 1 {
			return &InvalidError{to.name, "is given more than once; send it once"}
		}
		if value := strings.TrimSpace(HeaderText(values[0])); value != "" {
			if err := validate(to.name, value); err != nil {
				return err
			}
			*to.target = value
		}
	}
	return nil
}

// HeaderText is the text of a header. Browsers and Node send Latin-1, curl what
// the terminal has, which is UTF-8; who is called José is so by either.
func HeaderText(value string) string {
	if utf8.ValidString(value) {
		return value
	}
	runes := make([]rune, len(value))
	for i := range len(value) {
		runes[i] = rune(value[i])
	}
	return string(runes)
}

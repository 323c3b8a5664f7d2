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
	HeaderUserName  = "X-User-Name"

	HeaderSessionID = "X-Session-Id"
	headerModel     = "X-Model-Name"
	// headerAgent takes precedence over headerAgentName, p8's older name.
	headerAgent     = "X-Agent-Schema"
	headerAgentName = "X-Agent-Schema-Name"
	// headerIsEval is set by true, 1 or yes in any case.
	headerIsEval   = "X-Is-Eval"
	HeaderClientID = "X-Client-Id"
)

// FromHeaders believes every header. It is for trusted callers: the command line,
// tests, a gateway's requests. Fields without a header come from defaults; a user in
// the headers replaces the default user entirely. The error is an *InvalidError that
// names the header.
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

// FromRequest returns the identity of an HTTP request.
//
// If the request's context carries an identity, a token was verified: its user and
// tenant stand, whatever the headers say. Otherwise X-User-Id, X-Tenant-Id,
// X-User-Email and X-User-Name count if trustHeaders is true; without it the caller is
// anonymous in the default tenant. The headers of session, agent, model, client and
// evaluation always count.
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

// readUser reads the caller from the headers.
func (id *Identity) readUser(h http.Header) error {
	var user, email, name, tenant string
	if err := readAll(h, []header{
		{HeaderUserID, &user}, {HeaderTenantID, &tenant}, {HeaderUserEmail, &email}, {HeaderUserName, &name},
	}); err != nil {
		return err
	}
	switch {
	case user != "" || email != "":
		// An id of one person with the e-mail of another would name nobody.
		id.UserID, id.Email, id.Name, id.UserContext = user, email, name, ""
	case name != "":
		id.Name = name
	}
	if tenant != "" {
		id.TenantID = tenant
	}
	return nil
}

// readRequest reads the session, agent, model and client from the headers.
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

// header names a header and the field that it sets.
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
		// With two values a client could get past a gateway that checks only one of
		// them.
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

// HeaderText returns the text of a header in UTF-8. Browsers and Node send Latin-1,
// curl sends what the terminal has, which is UTF-8.
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

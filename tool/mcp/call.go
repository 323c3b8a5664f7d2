package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/internal/signin"
	"github.com/p8-org/p8/tool"
)

// codeRejected is the SDK's code for a message that its transport did not accept; it
// is not the server's.
const codeRejected = -32005

// effect says whether a message may be sent twice.
type effect bool

const (
	// reads change nothing: they may be sent again after any failure.
	reads effect = false
	acts  effect = true
)

// do sends a message over the shared connection. A message that certainly never
// reached the server, or only reads, is sent once more over a new one.
func (s *server) do(ctx context.Context, e effect, send func(context.Context, *session) error) error {
	for attempt := 0; ; attempt++ {
		sess, err := s.acquire(ctx)
		if err != nil {
			return err
		}
		d := &delivery{}
		err = s.once(ctx, sess, d, send)
		lost := err != nil && ctx.Err() == nil && isLost(err, d, sess)
		s.release(sess, lost || ctx.Err() == nil && brokeOff(err, d))
		if attempt == 0 && ctx.Err() == nil && again(err, d, lost, e) {
			continue
		}
		return s.explain(ctx, err, d)
	}
}

func (s *server) once(ctx context.Context, sess *session, d *delivery, send func(context.Context, *session) error) error {
	ctx, cancel := sess.during(ctx, d)
	defer cancel()
	return send(ctx, sess)
}

// again reports whether a message may be sent once more.
func again(err error, d *delivery, lost bool, e effect) bool {
	var said *tool.Error
	switch {
	case lost && !mayHaveArrived(d):
		return true
	case err == nil || e == acts || errors.As(err, &said) || rpcError(err) != nil:
		return false
	}
	return lost || d.status.Load() < http.StatusBadRequest
}

// mayHaveArrived reports whether the server may have acted on the message.
func mayHaveArrived(d *delivery) bool { return d.reached.Load() && !d.unknown.Load() }

// isLost reports whether the connection is lost, rather than one message.
func isLost(err error, d *delivery, sess *session) bool {
	if sess.over() || d.unknown.Load() || errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, sdk.ErrSessionMissing) {
		return true
	}
	return rpcError(err) == nil && !d.reached.Load()
}

// brokeOff reports whether the connection ended under a message, which the SDK may not
// have noticed yet: the next message must not use it.
func brokeOff(err error, d *delivery) bool {
	var said *tool.Error
	return err != nil && rpcError(err) == nil && !errors.As(err, &said) && d.status.Load() < http.StatusBadRequest
}

// rpcError returns the error that the server answered with, nil if it did not answer.
func rpcError(err error) *jsonrpc.Error {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) && rpc.Code != codeRejected {
		return rpc
	}
	return nil
}

// errorf returns an error about the server, for a model and a client.
func (s *server) errorf(format string, args ...any) *tool.Error {
	return &tool.Error{Message: "the MCP server " + s.entry.name + " " + fmt.Sprintf(format, args...)}
}

// explain describes the failure of a message.
func (s *server) explain(ctx context.Context, err error, d *delivery) error {
	var known *tool.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case s.all.ctx.Err() != nil:
		return stopping()
	case ctx.Err() != nil:
		return ctx.Err()
	}
	s.log.WarnContext(ctx, "a request to an MCP server failed", "error", err)
	if r := d.refusal.Load(); r != nil {
		return s.refusedLogin(r)
	}
	if rpc := rpcError(err); rpc != nil && !d.unknown.Load() {
		return s.refused(rpc)
	}
	status := d.status.Load()
	switch {
	case status == 401 || status == 403 || errors.Is(err, errRefused):
		return s.denied(int(status))
	case status == 429:
		return s.errorf("has too much to do; try again later")
	case !mayHaveArrived(d):
		return s.errorf("is down; the request did not reach it")
	case status >= 500:
		return s.errorf("failed with status %d; the call may or may not have taken effect", status)
	}
	return s.errorf("broke off the connection; the call may or may not have taken effect")
}

// refused describes the server's own error. The model reads what is wrong with the
// arguments, and no other text of the server.
func (s *server) refused(rpc *jsonrpc.Error) *tool.Error {
	const most = 500
	switch rpc.Code {
	case jsonrpc.CodeInvalidParams:
		return s.errorf("refused the call: %s", tool.Cut(strings.TrimSpace(rpc.Message), most))
	case jsonrpc.CodeMethodNotFound:
		return s.errorf("cannot do that")
	case sdk.CodeURLElicitationRequired:
		return s.errorf("needs somebody to sign in with a browser first")
	}
	return s.errorf("could not do it (error %d)", rpc.Code)
}

// unreachable says why there is no connection.
func (s *server) unreachable(err error, d *delivery, late bool) error {
	if s.all.ctx.Err() != nil {
		return stopping()
	}
	s.log.Warn("an MCP server cannot be reached", "error", err)
	status := int(d.status.Load())
	switch {
	case errors.Is(err, signin.ErrForeign):
		return s.errorf("points to another host, which p8 does not follow")
	case d.refusal.Load() != nil:
		return s.refusedLogin(d.refusal.Load())
	case errors.Is(err, errRefused), status == 401, status == 403:
		return s.denied(status)
	case late:
		return s.errorf("did not answer within %s", s.all.o.ConnectTimeout)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return s.errorf("cannot be started: its command was not found")
	case s.entry.kind == kindStdio:
		return s.errorf("ended before it was ready")
	case status >= 400:
		return s.errorf("is down: it answers with status %d", status)
	case status > 0:
		return s.errorf("answers, but not as an MCP server does: check its address")
	}
	return s.errorf("is down: nobody answers at its address")
}

// denied names the setting with the access that the server wants.
func (s *server) denied(status int) *tool.Error {
	how := "its authorization server gave no token: check client_id and client_secret in the file of MCP servers"
	switch {
	case s.entry.token:
		how = fmt.Sprintf("refuses the token of %s%s", variableName(s.entry.name), tokenSuffix)
	case s.entry.oauth != nil && !s.entry.oauth.asksPerson && status != 0:
		how = "refuses the token of its authorization server: check scopes in the file of MCP servers"
	case s.entry.oauth != nil && !s.entry.oauth.asksPerson:
	case s.entry.headers["Authorization"] != "":
		how = "refuses the Authorization header of the file of MCP servers"
	case s.all.o.Logins != nil && s.access == nil:
		how = fmt.Sprintf("wants its user to sign in: run `%s`", s.entry.signIn())
		if !s.entry.unnamed {
			how += fmt.Sprintf(", or set %s%s", variableName(s.entry.name), tokenSuffix)
		}
	case s.access != nil:
		how = "refuses the user's login: run `" + s.entry.signIn() + "` again"
	default:
		how = fmt.Sprintf("wants a token: set %s%s", variableName(s.entry.name), tokenSuffix)
	}
	if status != 0 {
		how += fmt.Sprintf(" (status %d)", status)
	}
	return s.errorf("%s", how)
}

// refusedLogin names the command with which the user signs in again.
func (s *server) refusedLogin(r *refusal) *tool.Error {
	if len(r.scopes) > 0 {
		return s.errorf("wants more rights than the user's login has: run `%s --scope %q`", s.entry.signIn(), strings.Join(r.scopes, " "))
	}
	return s.errorf("refuses the user's login, or it has expired: run `%s` again", s.entry.signIn())
}

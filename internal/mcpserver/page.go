package mcpserver

import (
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ownCursor begins the cursors of items that depend on the caller. A list begins with
// the items registered for all callers, under the SDK's cursors; the caller's own
// follow.
const ownCursor = "p8."

// cursor returns that of a list request, which may have no parameters.
func cursor(p sdk.Params) string {
	switch p := p.(type) {
	case *sdk.ListToolsParams:
		if p != nil {
			return p.Cursor
		}
	case *sdk.ListResourcesParams:
		if p != nil {
			return p.Cursor
		}
	case *sdk.ListResourceTemplatesParams:
		if p != nil {
			return p.Cursor
		}
	}
	return ""
}

// offset returns where a page of the caller's items begins; own is false for the SDK's own
// pages.
func offset(cursor string) (n int, own bool, err error) {
	rest, own := strings.CutPrefix(cursor, ownCursor)
	if !own {
		return 0, false, nil
	}
	n, err = strconv.Atoi(rest)
	if err != nil || n < 0 {
		return 0, true, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor is not one that this server gave"}
	}
	return n, true, nil
}

// slice returns the page of items that begins at from, with room for some, and the
// cursor of the next page.
func slice[T any](items []T, from, room int) (page []T, next string) {
	from = min(from, len(items))
	to := min(from+max(room, 0), len(items))
	if to < len(items) {
		next = ownCursor + strconv.Itoa(to)
	}
	return items[from:to], next
}

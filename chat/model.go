package chat

import (
	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat/internal/cast"
)

// ModelName returns the model that a turn uses: the one that the document insists on, else the
// request's, else the document's, else fallback.
func ModelName(a *agent.Agent, request, fallback string) string {
	return cast.ModelName(a, request, fallback)
}

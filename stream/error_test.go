package stream_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestErrorType(t *testing.T) {
	for status, want := range map[int]string{
		0: "server_error", 400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
		404: "invalid_request_error", 422: "invalid_request_error", 429: "rate_limit_error", 500: "server_error", 502: "server_error",
	} {
		if got := stream.ErrorType(status); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
}

func TestAPIErrorOf(t *testing.T) {
	got := stream.APIErrorOf(&event.ErrorData{HTTPStatus: 400})
	if got.Message == "" || got.Code != event.CodeInternal || got.Type != "invalid_request_error" {
		t.Errorf("%+v", got)
	}
}

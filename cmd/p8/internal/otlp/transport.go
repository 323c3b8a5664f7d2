package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/p8-org/p8/internal/outbound"
)

// maxResponse bounds what is read of a response, in bytes.
const maxResponse = 64 << 10

func compress(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(body)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// post sends a message over OTLP/HTTP.
func (c *Client) post(ctx context.Context, s Signal, body []byte) *failure {
	res, failed := c.send(ctx, s.path, body, http.Header{
		"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"gzip"},
	})
	if failed != nil {
		return failed
	}
	defer res.Body.Close()
	message, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil {
		return &failure{err: err, temporary: true}
	}
	if res.StatusCode < 300 {
		return partly(message)
	}
	return &failure{
		err:       fmt.Errorf("HTTP status %d", res.StatusCode),
		temporary: slices.Contains([]int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, res.StatusCode),
		after:     outbound.RetryAfter(res.Header),
	}
}

// call sends a message over OTLP/gRPC: a byte that says whether it is compressed, its length,
// and the message.
func (c *Client) call(ctx context.Context, s Signal, body []byte) *failure {
	frame := append(binary.BigEndian.AppendUint32([]byte{1}, uint32(len(body))), body...)
	res, failed := c.send(ctx, s.service, frame, http.Header{
		"Content-Type": {"application/grpc+proto"}, "Te": {"trailers"}, "Grpc-Encoding": {"gzip"}, "Grpc-Accept-Encoding": {"gzip"},
	})
	if failed != nil {
		return failed
	}
	defer res.Body.Close()
	message, err := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	if err != nil {
		return &failure{err: err, temporary: true}
	}
	if res.StatusCode != http.StatusOK {
		return &failure{err: fmt.Errorf("HTTP status %d, which is none of gRPC", res.StatusCode), temporary: res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests}
	}
	status := grpcHeader(res, "Grpc-Status")
	code, err := strconv.Atoi(status)
	switch {
	case err != nil:
		return &failure{err: errors.New("the response has no status of gRPC")}
	case code == 0 && len(message) >= prefix:
		return partly(unframe(message))
	case code == 0:
		return nil
	}
	text := grpcHeader(res, "Grpc-Message")
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	return &failure{err: fmt.Errorf("gRPC status %d %.200q", code, text), temporary: temporary(code)}
}

// prefix is the length of what comes before a message of gRPC, in bytes.
const prefix = 5

// unframe returns the message behind a prefix, nil if it cannot be read.
func unframe(frame []byte) []byte {
	if frame[0] == 0 {
		return frame[prefix:]
	}
	r, err := gzip.NewReader(bytes.NewReader(frame[prefix:]))
	if err != nil {
		return nil
	}
	message, err := io.ReadAll(io.LimitReader(r, maxResponse))
	if err != nil {
		return nil
	}
	return message
}

// grpcHeader returns a header of the response's end. A response without a message has it at the
// beginning.
func grpcHeader(res *http.Response, name string) string {
	if v := res.Trailer.Get(name); v != "" {
		return v
	}
	return res.Header.Get(name)
}

// temporary reports whether OTLP repeats requests with a status of gRPC.
func temporary(code int) bool {
	const cancelled, deadline, exhausted, aborted, outOfRange, unavailable, dataLoss = 1, 4, 8, 10, 11, 14, 15
	return slices.Contains([]int{cancelled, deadline, exhausted, aborted, outOfRange, unavailable, dataLoss}, code)
}

// partly returns a failure if the collector has refused a part of a message. The response is
// {partial_success: {rejected: int64, error_message: string}}, with the fields 1, and 1 and 2.
func partly(response []byte) *failure {
	success := field(response, 1)
	if success == nil {
		return nil
	}
	rejected := int64(0)
	for rest := success; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			break
		}
		rest = rest[n:]
		if number == 1 && kind == protowire.VarintType {
			if v, n := protowire.ConsumeVarint(rest); n > 0 {
				rejected = int64(v)
			}
		}
		if n = protowire.ConsumeFieldValue(number, kind, rest); n < 0 {
			break
		}
		rest = rest[n:]
	}
	if rejected <= 0 {
		return nil
	}
	return &failure{err: fmt.Errorf("the collector has refused %d: %.200q", rejected, field(success, 2))}
}

// field returns the last value of a field of bytes, nil if there is none.
func field(message []byte, wanted protowire.Number) (value []byte) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return value
		}
		message = message[n:]
		if number == wanted && kind == protowire.BytesType {
			if v, n := protowire.ConsumeBytes(message); n > 0 {
				value = v
			}
		}
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return value
		}
		message = message[n:]
	}
	return value
}

package outbound

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a name server that gives every name these addresses.
type names []string

func (n names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go n.serve(server)
		return client, nil
	}}
}

func (n names) serve(c net.Conn) {
	defer c.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		raw := make([]byte, binary.BigEndian.Uint16(size[:]))
		var m dnsmessage.Message
		if _, err := io.ReadFull(c, raw); err != nil || m.Unpack(raw) != nil {
			return
		}
		m.Response, m.Additionals = true, nil
		for _, text := range n {
			ip, head := netip.MustParseAddr(text), dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET}
			switch {
			case ip.Is4() && m.Questions[0].Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: ip.As4()}})
			case ip.Is6() && m.Questions[0].Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
			}
		}
		out, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}

// A name that passes the check of its URL, and then resolves to this machine or a private
// network, is not connected to; nor is a number that some programs take for an address.
func TestRebinding(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, addresses := range []names{
		{"127.0.0.1"}, {"::1"}, {"::ffff:127.0.0.1"}, {"10.0.0.7", "127.0.0.1"}, {"169.254.169.254"}, {"64:ff9b::7f00:1"}, {"100.100.0.1"}, {"fd00::1", "192.168.0.1"},
	} {
		address := "http://hooks.example.com:" + at.Port() + "/"
		if err := CheckURL(address, false); err != nil {
			t.Fatal(err)
		}
		client := newPublicClient(&net.Dialer{Resolver: addresses.resolver()}, false)
		err := NewWebhooks(client, nil).Post(t.Context(), address, http.Header{}, nil)
		if !errors.Is(err, ErrPrivate) || strings.Contains(err.Error(), "example") {
			t.Errorf("%v: %v", addresses, err)
		}
	}
	for _, host := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::ffff:7f00:1]", "[::127.0.0.1]", "127.0.0.1.", "localhost", "a.localhost"} {
		client := newPublicClient(&net.Dialer{Resolver: names{"127.0.0.1"}.resolver()}, false)
		if err := NewWebhooks(client, nil).Post(t.Context(), "http://"+host+":"+at.Port()+"/", http.Header{}, nil); err == nil {
			t.Errorf("%s was asked", host)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("this machine was asked %d times", asked.Load())
	}
	// The same name server leads there if private addresses are allowed: the test can fail.
	client := newPublicClient(&net.Dialer{Resolver: names{"127.0.0.1"}.resolver()}, true)
	if err := NewWebhooks(client, nil).Post(t.Context(), "http://hooks.example.com:"+at.Port()+"/", http.Header{}, nil); err != nil || asked.Load() != 1 {
		t.Errorf("%v, asked %d times", err, asked.Load())
	}
}

package outbound

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCheckURL(t *testing.T) {
	for address, public := range map[string]bool{
		"https://hooks.example.com/a?b=c": true, "http://93.184.215.14:8080/": true, "https://[2606:2800:220:1::1]/": true,
		"http://localhost/": false, "http://LOCALHOST./": false, "http://api.localhost:80/": false,
		"http://127.0.0.1/": false, "http://127.8.9.1/": false, "http://[::1]/": false, "http://0.0.0.0/": false, "http://0/": true, // a name
		"http://10.0.0.1/": false, "http://172.16.3.4/": false, "http://192.168.1.1/": false, "http://100.64.0.1/": false,
		"http://169.254.169.254/latest/meta-data/": false, "http://[fe80::1%25eth0]/": false, "http://[fd00:ec2::254]/": false,
		"http://[::ffff:127.0.0.1]/": false, "http://[::ffff:10.0.0.1]/": false, "http://[64:ff9b::7f00:1]/": false, "http://[2002:7f00:1::]/": false,
		"http://224.0.0.1/": false, "http://255.255.255.255/": false, "http://198.18.0.1/": false, "http://[::127.0.0.1]/": false,
		"ftp://example.com/": false, "file:///etc/passwd": false, "javascript:alert(1)": false, "https://": false, "https:///x": false,
		"https://user:secret@example.com/": false, "//example.com": false, "": false, "http://a b/": false,
	} {
		if err := CheckURL(address, false); (err == nil) != public {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := CheckURL("http://127.0.0.1:99/", true); err != nil {
		t.Error(err)
	}
	if CheckURL("ftp://127.0.0.1/", true) == nil || CheckURL("http://a@127.0.0.1/", true) == nil {
		t.Error("what is no webhook anywhere is allowed in a private network")
	}
}

// A name may resolve to any address, so the client looks at the address that it connects to.
func TestPublicClient(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	if _, err := NewPublicClient(false).Get(server.URL); !errors.Is(err, ErrPrivate) || asked > 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	res, err := NewPublicClient(true).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusTemporaryRedirect || asked != 1 {
		t.Errorf("status %d, asked %d times", res.StatusCode, asked)
	}
}

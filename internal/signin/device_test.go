package signin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// device is a provider that answers polls with these errors, then with a token.
func device(interval, within int, polls *[]time.Duration, answers ...string) *internet {
	n, began := good(), time.Now()
	n.pages[issuer+"/device"] = says(fmt.Sprintf(`{"device_code":"d","user_code":"AB-CD","verification_uri":"%s/go","interval":%d,"expires_in":%d}`, issuer, interval, within))
	n.pages[issuer+"/token"] = func(*http.Request) (int, http.Header, string) {
		*polls = append(*polls, time.Since(began))
		if k := len(*polls) - 1; k < len(answers) {
			if answers[k] == "" {
				return http.StatusBadGateway, http.Header{}, "<html>"
			}
			return http.StatusBadRequest, http.Header{}, `{"error":"` + answers[k] + `"}`
		}
		return http.StatusOK, http.Header{}, `{"access_token":"a","token_type":"Bearer"}`
	}
	return n
}

func TestDevice(t *testing.T) {
	const pending, slower = "authorization_pending", "slow_down"
	for name, c := range map[string]struct {
		interval, within int
		answers          []string
		polls            string
		want             string
	}{
		"at once":               {interval: 2, within: 60, polls: "[2s]"},
		"slower":                {interval: 2, within: 60, answers: []string{pending, slower, pending}, polls: "[2s 4s 11s 18s]"},
		"a provider that fails": {interval: 2, within: 60, answers: []string{"", pending, ""}, polls: "[2s 4s 6s 8s]"},
		"one that only fails":   {interval: 4, within: 10, answers: []string{"", "", "", ""}, polls: "[4s 8s]", want: "has expired"},
		"the usual pace":        {within: 60, answers: []string{pending}, polls: "[5s 10s]"},
		"nobody came":           {interval: 4, within: 10, answers: []string{pending, pending, pending}, polls: "[4s 8s]", want: "has expired"},
		"expired there":         {interval: 4, within: 60, answers: []string{"expired_token"}, polls: "[4s]", want: "has expired"},
		"denied":                {interval: 4, within: 60, answers: []string{"access_denied"}, polls: "[4s]", want: "access_denied"},
		"time runs back":        {interval: -7, within: 60, polls: "[5s]"},
		"an age for a poll":     {interval: 1 << 40, within: 600, polls: "[1m0s]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var polls []time.Duration
				o, err := find(t, device(c.interval, c.within, &polls, c.answers...), server)
				if err != nil {
					t.Fatal(err)
				}
				var shown Device
				_, err = WithDevice(t.Context(), o, func(d Device) { shown = d })
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if got := fmt.Sprint(polls); got != c.polls {
					t.Errorf("polls at %s, want %s", got, c.polls)
				}
				if shown.Code != "AB-CD" || shown.Address != issuer+"/go" {
					t.Errorf("%+v", shown)
				}
			})
		})
	}
}

func TestDeviceAddressIsNotTrusted(t *testing.T) {
	n := good()
	n.pages[issuer+"/device"] = says(`{"device_code":"d","user_code":"x","verification_uri":"javascript:alert(1)"}`)
	o, err := find(t, n, server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WithDevice(t.Context(), o, func(Device) { t.Error("it is shown") }); err == nil {
		t.Error("it is used")
	}
}

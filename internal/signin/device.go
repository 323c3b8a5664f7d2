package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/oauth2"
)

// Device is what a person needs to sign in with a browser of another machine.
type Device struct {
	// Address is where the person enters Code; Whole has the code already, "" for none.
	Address, Whole string
	Code           string
	// Within is how long the code is valid.
	Within time.Duration
}

// maxInterval bounds the time between two questions, in seconds.
const maxInterval = 60

// WithDevice signs a person in with a browser of any machine (RFC 8628), and waits for
// them as long as ctx and the code last. show shows what the person needs.
func WithDevice(ctx context.Context, o Options, show func(Device)) (*Login, error) {
	if o.Provider.DeviceURL == "" {
		return nil, errors.New("the provider has no sign-in for devices: leave out --device")
	}
	const grant = "urn:ietf:params:oauth:grant-type:device_code"
	c, err := o.config(ctx, "", grant)
	if err != nil {
		return nil, err
	}
	resource := oauth2.SetAuthURLParam("resource", o.Server.Resource)
	asks := context.WithValue(ctx, oauth2.HTTPClient, o.Client)
	answer, err := c.DeviceAuth(asks, resource)
	switch {
	case err != nil:
		return nil, noToken(ctx, err)
	case answer.DeviceCode == "" || answer.UserCode == "":
		return nil, errors.New("the provider gave no code")
	}
	d := Device{Address: answer.VerificationURI, Whole: answer.VerificationURIComplete, Code: plain(answer.UserCode)}
	for _, at := range []string{d.Address, d.Whole} {
		if _, err := safe(at, o.Server.local); err != nil && at != "" {
			return nil, fmt.Errorf("the provider cannot be used: its address %w", err)
		}
	}
	if !answer.Expiry.IsZero() {
		d.Within = time.Until(answer.Expiry).Round(time.Second)
	}
	// The clock of the machine may be set while the person signs in: the code is valid for a
	// time, not until one.
	within, cancel := ctx, context.CancelFunc(func() {})
	if d.Within > 0 {
		within, cancel = context.WithTimeout(asks, d.Within)
	}
	defer cancel()
	show(d)
	answer.Expiry, answer.Interval = time.Time{}, min(max(answer.Interval, 0), maxInterval)
	asks = context.WithValue(within, oauth2.HTTPClient, o.Client)
	token, err := c.DeviceAccessToken(asks, answer, resource)
	for passes(err) && within.Err() == nil {
		token, err = c.DeviceAccessToken(asks, answer, resource) // after the next interval
	}
	var refused *oauth2.RetrieveError
	switch {
	case err == nil:
		return o.login(c, token, "")
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refused) && refused.ErrorCode == "expired_token", within.Err() != nil:
		return nil, errors.New("the code has expired before anybody signed in: try again")
	}
	return nil, noToken(ctx, err)
}

// passes reports whether a poll failed for a reason that may pass: the connection, or a
// failure of the provider.
func passes(err error) bool {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err != nil
	}
	return refused.Response.StatusCode >= http.StatusInternalServerError && refused.ErrorCode == ""
}

package config

import (
	"fmt"
	"net/url"
	"strings"
)

// Entry is one effective setting.
type Entry struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Origin is "flag --port", "environment P8_PORT" or ".env P8_PORT" (the name may be an
	// alias), or "default".
	Origin string `json:"origin"`
	secret bool
}

const mask = "********"

// masked hides secrets.
func (e Entry) masked() Entry {
	if e.secret && e.Value != "" {
		e.Value = mask
	}
	e.Value = maskURL(e.Value)
	return e
}

// maskURL hides the credentials in a URL: the password, a user without a password, which
// may be a token, and the query.
func maskURL(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		// It may have a password before the @.
		if at := strings.LastIndex(s, "@"); at >= 0 {
			return mask + s[at:]
		}
		return s
	}
	if u.User == nil && u.RawQuery == "" {
		return s
	}
	credentials := ""
	if _, has := u.User.Password(); has {
		credentials = u.User.Username() + ":" + mask + "@"
	} else if u.User != nil {
		credentials = mask + "@"
	}
	u.User = nil
	if u.RawQuery != "" {
		u.RawQuery = mask
	}
	return strings.Replace(u.String(), "://", "://"+credentials, 1)
}

// Table returns the settings as a Markdown table, for docs/settings.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| Setting | Default | Meaning | Also read as |\n|---|---|---|---|\n")
	for _, f := range declared() {
		value := "-"
		if f.value != "" {
			value = "`" + f.value + "`"
		}
		aliases := "-"
		if f.aliases != nil {
			aliases = "`" + strings.Join(f.aliases, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.env, value, f.help, aliases)
	}
	return b.String()
}

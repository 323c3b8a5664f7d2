package mcp

// The grants: a person signs in, or p8 itself.
const (
	grantPerson = "authorization_code"
	grantSelf   = "client_credentials"
)

func (f *configFile) oauth(m member) *oauthEntry {
	if !m.value.object {
		f.wrong(m.value.offset, "oauth must be an object with client_id and client_secret")
		return nil
	}
	o, grant := &oauthEntry{}, ""
	for _, field := range m.value.members {
		switch field.key {
		case "client_id":
			o.clientID = f.text(field)
		case "client_secret":
			o.clientSecret = f.text(field)
		case "token_url":
			if o.tokenURL = f.text(field); o.tokenURL != "" {
				if _, err := parseURL(o.tokenURL); err != nil {
					f.wrong(field.value.offset, "token_url must begin with http:// or https:// and a host")
				}
			}
		case "scopes":
			o.scopes = f.texts(field)
		case "grant":
			grant = f.text(field)
		default:
			f.unknown(field, oauthKeys)
		}
	}
	o.asksPerson = grant == grantPerson || grant == "" && o.clientSecret == ""
	switch {
	case grant != "" && grant != grantPerson && grant != grantSelf:
		f.wrong(m.value.offset, "the grant %q is unknown: it is %s or %s", clip(grant), grantPerson, grantSelf)
	case !o.asksPerson && (o.clientID == "" || o.clientSecret == ""):
		f.wrong(m.value.offset, "oauth needs client_id and client_secret for the grant %s", grantSelf)
	case o.asksPerson && o.clientID == "" && o.clientSecret != "":
		f.wrong(m.value.offset, "oauth has client_secret without client_id")
	case o.asksPerson && o.tokenURL != "":
		f.wrong(m.value.offset, "token_url is for the grant %s: where persons sign in, the server names it", grantSelf)
	}
	return o
}

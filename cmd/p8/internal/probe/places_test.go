package probe

// places are where a person's canaries are.
var places = []string{
	"message", "session", "state", "document", "helper", "file", "web", "ontology", "resource", "feedback", "hook",
	"moment", "saved", "reminder", "alarm", "profile", "approval", "live", "client", "key", "audited", "account", "quota", "experiment", "evaluation", "result",
}

// admins are the places that an admin of the tenant reads, too.
var admins = map[string]bool{"key": true, "audited": true, "account": true, "quota": true, "feedback": true}

// tenants are the places whose rows without a user the whole tenant reads.
var tenants = map[string]bool{
	"document": true, "helper": true, "file": true, "web": true, "ontology": true, "resource": true, "told": true, "toldlast": true,
}

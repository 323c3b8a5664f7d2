package identity

// Role says what a caller with a verified token may write. The store enforces it, on
// every path. No header sets it.
type Role string

// The roles. A caller without one, on a server without authentication, may do what an
// admin may.
const (
	// RoleReader reads, and writes nothing: no turn either.
	RoleReader Role = "reader"
	// RoleMember has conversations and writes rows of its own.
	RoleMember Role = "member"
	// RoleAdmin also writes rows that the whole tenant sees: shared documents, resources,
	// ontologies and files.
	RoleAdmin Role = "admin"
)

// Rank orders the roles by what they may do, from 1; it is 0 for other texts.
func (r Role) Rank() int {
	switch r {
	case RoleReader:
		return 1
	case RoleMember:
		return 2
	case RoleAdmin:
		return 3
	}
	return 0
}

// MayWrite reports whether the caller may write rows at all.
func (id Identity) MayWrite() bool { return id.Role != RoleReader }

// MayShare reports whether the caller may write rows that the whole tenant sees.
func (id Identity) MayShare() bool { return id.Role == "" || id.Role == RoleAdmin }

// Administers reports whether the caller may manage the keys and users of its tenant and
// read the tenant's audit log.
func (id Identity) Administers() bool { return id.Grants(RoleAdmin) }

// Operates reports whether the caller is the deployment itself, which sees all tenants: it has the
// deployment's own key, or the server has no authentication. A user whom a gateway names is not.
func (id Identity) Operates() bool {
	return id.UserID == "" && id.KeyID == DeploymentKey || id.Role == "" && id.KeyID == ""
}

// Grants reports whether the caller may give somebody a role: it is not above the caller's own.
// A gateway that names no user has no role, and counts as a member here.
func (id Identity) Grants(r Role) bool {
	own := id.Role
	switch {
	case own != "":
	case id.KeyID == "": // without authentication
		own = RoleAdmin
	default:
		own = RoleMember
	}
	return r.Rank() > 0 && own.Rank() >= r.Rank()
}

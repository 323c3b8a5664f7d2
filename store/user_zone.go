package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/zone"
)

// Zone returns the time zone in the metadata ("timezone", an IANA name); nil if there is
// none. It fails if the name is not a time zone.
func (u *User) Zone() (*time.Location, error) {
	var profile struct {
		Zone any `json:"timezone"`
	}
	if len(u.Metadata) > 0 {
		if err := json.Unmarshal(u.Metadata, &profile); err != nil {
			return nil, fmt.Errorf("store: read the metadata of a user: %w", err)
		}
	}
	switch name, ok := profile.Zone.(string); {
	case profile.Zone == nil || ok && name == "":
		return nil, nil
	case !ok:
		return nil, errors.New("store: a time zone must be a text")
	default:
		return zone.Named(name)
	}
}

// Zone returns the time zone of the caller's profile; nil if the caller has no row or the
// row names none. An unknown zone counts as none and is logged as a warning.
func (all Users) Zone(ctx context.Context, log *slog.Logger) (*time.Location, error) {
	id, err := identity.From(ctx)
	if err != nil || id.Anonymous() {
		return nil, err
	}
	u, err := all.Get(ctx)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	at, err := u.Zone()
	if err != nil {
		log.WarnContext(ctx, "the time zone in a user's profile is ignored", "user", id.UserID, "error", err)
	}
	return at, nil
}

package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/internal/seal"
	"github.com/p8-org/p8/store"
)

// sealedHook is the data of a hook in the store: a storedHook that is sealed, because even the
// address may hold a secret. A hook of an older p8 is in plain text.
type sealedHook struct {
	Sealed []byte `json:"sealed"`
}

// placeOf returns what binds a sealed hook to its row.
func placeOf(tenant, task, id string) ([]byte, error) {
	return json.Marshal([]string{"a2a webhook", tenant, task, id})
}

// sealHook returns the data of a hook for the store.
func (s *Server) sealHook(tenant, task, id string, h storedHook) (json.RawMessage, error) {
	plain, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return sealData(s.o.Seal, tenant, task, id, plain)
}

// openHook returns a hook of the store. Its error is for the log: it has no secret.
func (s *Server) openHook(tenant, task, id string, data json.RawMessage) (h storedHook, err error) {
	var is sealedHook
	if err = json.Unmarshal(data, &is); err == nil && is.Sealed != nil {
		var place []byte
		if place, err = placeOf(tenant, task, id); err == nil {
			data, err = s.o.Seal.Open(is.Sealed, place)
		}
	}
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err != nil {
		return storedHook{}, fmt.Errorf("the webhook %q of the task %s cannot be opened: %w", id, task, err)
	}
	return h, nil
}

func sealData(ring *seal.Ring, tenant, task, id string, plain []byte) (json.RawMessage, error) {
	place, err := placeOf(tenant, task, id)
	if err != nil {
		return nil, err
	}
	sealed, err := ring.Seal(plain, place)
	if err != nil {
		return nil, fmt.Errorf("the webhook of a task cannot be sealed: %w", err)
	}
	return json.Marshal(sealedHook{sealed})
}

// SealedHooks are the webhooks of all callers. Implemented by store.Maintenance.
type SealedHooks interface {
	RunHooks(ctx context.Context, after store.StoredHook) ([]store.StoredHook, error)
	ReplaceRunHook(ctx context.Context, h store.StoredHook, data json.RawMessage) (bool, error)
}

// Rotate seals the webhooks of all callers with the first key of the ring, those in plain text
// too. It may run beside servers.
func Rotate(ctx context.Context, hooks SealedHooks, ring *seal.Ring) (n seal.Rotation, err error) {
	var last store.StoredHook
	for {
		list, err := hooks.RunHooks(ctx, last)
		if err != nil || len(list) == 0 {
			return n, err
		}
		for _, h := range list {
			data, same, err := renewed(ring, h)
			switch {
			case err != nil:
				n.Fail(fmt.Errorf("the webhook %q of the task %s: %w", h.ID, h.RunID, err))
				continue
			case same:
				n.Same++
				continue
			}
			replaced, err := hooks.ReplaceRunHook(ctx, h, data)
			if err != nil {
				return n, err
			}
			if replaced { // else its owner has changed it, and a server has sealed it
				n.Sealed++
			}
		}
		last = list[len(list)-1]
	}
}

// renewed returns the data of a hook with the first key.
func renewed(ring *seal.Ring, h store.StoredHook) (data json.RawMessage, same bool, err error) {
	var is sealedHook
	if json.Unmarshal(h.Data, &is) != nil {
		return nil, false, errors.New("it is damaged")
	}
	if is.Sealed == nil {
		data, err = sealData(ring, h.TenantID, h.RunID, h.ID, h.Data)
		return data, false, err
	}
	place, err := placeOf(h.TenantID, h.RunID, h.ID)
	if err != nil {
		return nil, false, err
	}
	is.Sealed, same, err = ring.Renew(is.Sealed, place)
	if err != nil || same {
		return nil, same, err
	}
	data, err = json.Marshal(is)
	return data, false, err
}

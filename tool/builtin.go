package tool

import "p8/rem"

// Builtins are the tools that every deployment has: search (over e, which may
// be nil), action and register_metadata.
func Builtins(e *rem.Engine) ([]Tool, error) {
	search, err := NewSearch(e)
	if err != nil {
		return nil, err
	}
	action, err := NewAction()
	if err != nil {
		return nil, err
	}
	metadata, err := NewRegisterMetadata()
	if err != nil {
		return nil, err
	}
	return []Tool{search, action, metadata}, nil
}

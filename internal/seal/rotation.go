package seal

// Rotation counts the values that were to be sealed anew with the first key.
type Rotation struct {
	// Sealed values have the first key now, Same ones had it before.
	Sealed, Same int
	// Older values are of an older p8, which are sealed anew only when they are stored again.
	Older int
	// Failed values cannot be opened and stay as they are; Err is the error of the first.
	Failed int
	Err    error
}

// Fail counts a value that cannot be opened.
func (r *Rotation) Fail(err error) {
	if r.Failed++; r.Err == nil {
		r.Err = err
	}
}

package store

// Who may write what, for every path to a row: [writer.replace] and [writer.remove] ask.
//
// A private row is its writer's. A row with a user is that user's, whom place has
// compared. A row that everybody of a tenant sees takes the right to write those,
// which the identity carries. And no shared document of a tenant has the name of one
// that comes with the program, else one caller would speak for it to all; a person's
// own may, for that person.

// mayReplace refuses a record that the caller may not write for that owner.
func (w *writer) mayReplace(t *table, rec record, owner any) error {
	if err := w.mayShare(t, owner); err != nil || t != schemas || owner != nil {
		return err
	}
	if name := rec.entry().name; w.store.reserved.ignores(w.by.TenantID, "", name) {
		return forbiddenf("%.128q is the name of a document that comes with p8, and nobody's shared document may have it: "+
			"choose another name, or store it for one user", name)
	}
	return nil
}

// mayShare refuses a row of that owner if everybody of the tenant sees it and the caller
// may not write such rows.
func (w *writer) mayShare(t *table, owner any) error {
	if owner != nil || t.Private || !w.by.SharedReadOnly {
		return nil
	}
	return forbiddenf("the caller may not write a %s that everybody of the tenant sees: store it for one user", t.Type)
}

package store

// The rights to write rows. [writer.replace] and [writer.remove], through which every
// write goes, check them:
//
//   - A reader writes nothing; Store.write refuses it before the transaction.
//   - A private row belongs to its writer.
//   - A row with a user belongs to that user; table.place compares it with the caller.
//   - A row that a whole tenant reads needs a role with the right to write shared rows.
//   - A tenant's shared document must not have the name of one that comes with the
//     program, because every caller would get it instead. A caller's own document may.

// mayReplace returns ErrForbidden for a record that the caller may not write for that
// owner.
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

// mayShare returns ErrForbidden if the whole tenant reads a row of that owner and the
// caller may not write such rows.
func (w *writer) mayShare(t *table, owner any) error {
	if owner != nil || t.Private || w.by.MayShare() {
		return nil
	}
	return forbiddenf("the caller may not write a %s that everybody of the tenant sees: store it for one user", t.Type)
}

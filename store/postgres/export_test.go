package postgres

// NewDatabase creates an empty database, which drop removes.
func NewDatabase() (address string, drop func() error, err error) { return newDatabase("template1") }

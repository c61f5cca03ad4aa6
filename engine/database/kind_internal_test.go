package database

import "testing"

// TestKindOfSQLiteCodes has the codes that a test cannot bring about, plain and extended.
func TestKindOfSQLiteCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]Kind{
		8:    Unavailable, // READONLY
		1032: Unavailable, // READONLY_DBMOVED
		15:   Busy,        // PROTOCOL
		261:  Busy,        // BUSY_RECOVERY
		778:  Unavailable, // IOERR_WRITE
		2067: Duplicate,   // CONSTRAINT_UNIQUE
		1:    "",          // ERROR
	} {
		if got := kindOfSQLite(code); got != want {
			t.Errorf("%d: %q, want %q", code, got, want)
		}
	}
}

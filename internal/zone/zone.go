// Package zone loads time zones, also on machines without them, and says when their days
// begin. It replaces time/tzdata,
// which holds the same files uncompressed, four times as large.
package zone

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// zoneinfo.zip.gz is lib/time/zoneinfo.zip of Go. `go test ./internal/zone -update` writes it.
//
//go:embed zoneinfo.zip.gz
var compressed string

// Load returns the time zone of an IANA name, like time.LoadLocation: that of the machine,
// or else the embedded one.
func Load(name string) (*time.Location, error) {
	at, err := time.LoadLocation(name)
	if err == nil {
		return at, nil
	}
	if at, err := load(name, name); err == nil {
		return at, nil
	}
	return nil, err
}

// maxName bounds the length of a zone's name.
const maxName = 64

// Named returns the time zone of an IANA name that a user gave. Unlike Load it refuses ""
// and "Local", which would be UTC and the machine's own zone.
func Named(name string) (*time.Location, error) {
	if name != "" && len(name) <= maxName && !strings.EqualFold(name, "local") {
		if at, err := Load(name); err == nil {
			return at, nil
		}
	}
	return nil, fmt.Errorf("there is no time zone %.64q", name)
}

// Local returns the local time zone. named is the variable TZ: if the machine does not have
// this zone, time.Local is UTC.
func Local(named string) *time.Location {
	if named == "" || time.Local.String() != "UTC" {
		return time.Local
	}
	if at, err := load(strings.TrimPrefix(named, ":"), "Local"); err == nil {
		return at
	}
	return time.Local
}

// load reads an embedded zone and calls it as.
func load(name, as string) (*time.Location, error) {
	files, err := embedded()
	if err != nil {
		return nil, err
	}
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(as, data)
}

var embedded = sync.OnceValues(func() (*zip.Reader, error) {
	r, err := gzip.NewReader(strings.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, errors.New("the embedded time zones are damaged")
	}
	return zip.NewReader(bytes.NewReader(data), int64(len(data)))
})

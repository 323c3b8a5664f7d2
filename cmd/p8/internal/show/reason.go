package show

import (
	"errors"
	"io/fs"
	"syscall"
)

// Reason says in plain words why a file or a folder cannot be used.
func Reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "you have no permission"
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return "a file is in its place"
	case errors.Is(err, syscall.EISDIR):
		return "it is a folder"
	case errors.Is(err, syscall.EROFS):
		return "the disk cannot be written"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk is full"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "its name is too long"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many files are open"
	}
	return "the disk reports an error"
}

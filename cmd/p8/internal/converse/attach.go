package converse

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
)

// attach adds files to a message: images and PDF files as parts, text after the input.
func attach(req *chat.Request, files []string, limit int64) error {
	if n := len(req.Parts) + len(files); n > chat.MaxParts {
		return fmt.Errorf("%d files are too many; %d is the most", n, chat.MaxParts)
	}
	for _, path := range files {
		data, err := readAtMost(path, limit)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		kind, _, _ := mime.ParseMediaType(http.DetectContentType(data))
		part, err := chat.NewPart(kind, name, data)
		switch {
		case err == nil:
			req.Parts = append(req.Parts, part)
		case len(data) > 0 && utf8.Valid(data) && !strings.ContainsRune(string(data), 0):
			req.Input += "\n\n" + llm.Material("file "+name, string(data))
		default:
			return fmt.Errorf("%s %v", path, err)
		}
	}
	return nil
}

// readAtMost reads a file. A file longer than the limit is an error.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the file %s cannot be read: give the path of an image, a PDF or a text", path)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: give the path of an image, a PDF or a text", path)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("%s is longer than %d bytes, which is the most (P8_MAX_UPLOAD_BYTES)", path, limit)
	}
	return data, nil
}

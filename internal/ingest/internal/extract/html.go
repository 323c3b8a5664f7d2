package extract

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// htmlText writes a page as Markdown, decoded with the encoding that it declares. It omits
// scripts, styles and navigation. A page without a first heading gets its title as one.
func htmlText(data []byte, to Sink) error {
	r, err := charset.NewReader(bytes.NewReader(data), "text/html")
	if err != nil {
		return fmt.Errorf("the encoding is not known: %w", err)
	}
	root, err := html.Parse(r)
	if err != nil {
		return fmt.Errorf("cannot be parsed: %w", err)
	}
	title, headed := "", false
	var drop []*html.Node
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Title:
			if title == "" && n.FirstChild != nil {
				title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
			}
		case atom.H1:
			headed = true
		case atom.Nav, atom.Script, atom.Style, atom.Template, atom.Svg, atom.Noscript, atom.Iframe:
			drop = append(drop, n)
		}
	}
	for _, n := range drop {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	md, err := conv.ConvertNode(root)
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	s := strings.ToValidUTF8(string(md), "\uFFFD")
	if !headed && title != "" {
		s = "# " + title + "\n\n" + s
	}
	return to.Write(s)
}

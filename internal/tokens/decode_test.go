package tokens

import (
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

func TestDecode(t *testing.T) {
	const text = "Grüße, 世界! \n\tfunc main() {}"
	ids, _, err := codec.NewCl100kBase().Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	var in []int
	for _, id := range ids {
		in = append(in, int(id))
	}
	if got, ok := Decode(in); got != text || !ok {
		t.Errorf("%q %v", got, ok)
	}
	for _, id := range []int{-1, vocabularySize} {
		if _, ok := Decode([]int{id}); ok {
			t.Error(id)
		}
	}
}

package mcp

import (
	"testing"
	"testing/synctest"
	"time"
)

// A server that stops asking gets several messages at a time again.
func TestAloneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a alone
		if a.asked(); a.now() {
			t.Error("a question of a single call begins it")
		}
		a.begin()
		time.Sleep(aloneFor - time.Second)
		a.asked()
		time.Sleep(aloneFor - time.Second)
		if !a.now() {
			t.Error("it ended although the server asked")
		}
		time.Sleep(2 * time.Second)
		if a.now() {
			t.Error("it does not end")
		}
	})
}

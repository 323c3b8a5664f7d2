// Package term has the parts of a terminal that p8 needs: the width of a text in columns
// ([Width], [Pen.Wrap]), styles ([Pen]), a screen whose last lines are redrawn without
// flicker ([Canvas]), and a line editor with history and completion ([Editor]).
//
// It writes whole lines, none wider than the screen, and does not rewrite unchanged ones.
package term

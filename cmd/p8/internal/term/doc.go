// Package term is what p8 needs of a terminal: the width of a text in columns
// ([Width], [Wrap]), styles ([Pen]), a screen whose last lines may change without
// flicker ([Canvas]), and an editor of lines with history and completion ([Editor]).
//
// Everything is written as whole lines, each no wider than the screen; a line that
// did not change is not written again.
package term

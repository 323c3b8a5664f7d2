// Package module tests p8 as other modules see it: the program of
// docs/go-packages.md builds and runs outside of the checkout, and
// scripts/rename-module gives the checkout another import path and the old one
// back.
package module

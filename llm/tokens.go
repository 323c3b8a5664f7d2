package llm

import "unicode/utf8"

// EstimateTokens guesses the tokens of a text: a quarter of its characters,
// rounded up. It is meant for budgets and for rows whose provider told nothing;
// a provider's own count always wins.
func EstimateTokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

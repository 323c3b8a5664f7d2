package stem

import (
	"strings"
	"testing"
)

func TestStem(t *testing.T) {
	for _, pair := range strings.Fields(`caresses:caress ponies:poni ties:ti caress:caress cats:cat feed:feed agreed:agre plastered:plaster bled:bled
		motoring:motor sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall hissing:hiss fizzed:fizz
		failing:fail filing:file happy:happi sky:sky relational:relat conditional:condit rational:ration valenci:valenc digitizer:digit
		conformabli:conform radicalli:radic differentli:differ vileli:vile analogousli:analog vietnamization:vietnam predication:predic
		operator:oper feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous formaliti:formal sensitiviti:sensit
		sensibiliti:sensibl triplicate:triplic formative:form formalize:formal electriciti:electr electrical:electr hopeful:hope goodness:good
		revival:reviv allowance:allow inference:infer airliner:airlin gyroscopic:gyroscop adjustable:adjust defensible:defens irritant:irrit
		replacement:replac adjustment:adjust dependent:depend adoption:adopt homologou:homolog communism:commun activate:activ angulariti:angular
		homologous:homolog effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controll:control roll:roll
		migrations:migrat migrating:migrat taxes:tax leave:leav leaving:leav is:is q4:q4 über:über a: y:y`) {
		word, want, _ := strings.Cut(pair, ":")
		if want == "" {
			want = word
		}
		if got := Stem(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}

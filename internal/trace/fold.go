package trace

import (
	"slices"
	"time"
)

const (
	// mostChildren is how many nodes a node shows below it, unless all are wanted; mostNodes
	// bounds these.
	mostChildren = 40
	mostNodes    = 10_000
	// repeated is how many equal nodes in a row are shown as one.
	repeated = 3
)

// settle orders what is below, folds it, and sets the times from the turn's start.
func (n *Node) settle(turn time.Time, all bool) {
	n.StartMS, n.DurationMS = -1, 0
	if !n.start.IsZero() {
		n.StartMS = max(0, n.start.Sub(turn).Milliseconds())
		n.DurationMS = n.took().Milliseconds()
	}
	slices.SortStableFunc(n.Children, func(a, b *Node) int { return a.start.Compare(b.start) })
	most := mostNodes
	if !all {
		n.Children = fold(n.Children)
		most = mostChildren
	}
	n.Children = middle(n.Children, most)
	for _, c := range n.Children {
		c.settle(turn, all)
	}
}

// fold makes one node of equal ones in a row, and two or three of a pair or a triple that is
// repeated, such as a request to a model and the call that it asks for.
func fold(list []*Node) []*Node {
	var out []*Node
	for i := 0; i < len(list); {
		period, times := 1, 1
		for p := 1; p <= 3 && times < repeated; p++ {
			if n := repeats(list[i:], p); n >= repeated {
				period, times = p, n
			}
		}
		if times < repeated {
			out = append(out, list[i])
			i++
			continue
		}
		for k := range period {
			equal := make([]*Node, times)
			for n := range times {
				equal[n] = list[i+n*period+k]
			}
			one := join(equal)
			one.Kind, one.Name, one.Status = equal[0].Kind, equal[0].Name, equal[0].Status
			out = append(out, one)
		}
		i += period * times
	}
	return out
}

// repeats returns how often the first nodes of a list, a period, follow one another.
func repeats(list []*Node, period int) int {
	n := 1
	for ; (n+1)*period <= len(list); n++ {
		for k := range period {
			if !same(list[k], list[n*period+k]) {
				return n
			}
		}
	}
	return n
}

// same reports whether two nodes without others below say the same.
func same(a, b *Node) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Status == b.Status && a.Kind != Wait && len(a.Children)+len(b.Children) == 0
}

// middle leaves out the middle of a list.
func middle(list []*Node, most int) []*Node {
	if len(list) <= most {
		return list
	}
	half := (most - 1) / 2
	more := join(list[half : len(list)-half])
	more.Kind = More
	return slices.Concat(list[:half], []*Node{more}, list[len(list)-half:])
}

// took is how long the node took, or all that it stands for together.
func (n *Node) took() time.Duration {
	if n.Count > 0 {
		return n.all
	}
	return max(0, n.end.Sub(n.start))
}

// join returns a node for several.
func join(list []*Node) *Node {
	one := &Node{}
	for _, n := range list {
		one.Count += max(1, n.Count)
		one.all += n.took()
		one.Sum.add(n.Sum)
		if one.start.IsZero() || !n.start.IsZero() && n.start.Before(one.start) {
			one.start = n.start
		}
		if one.end.Before(n.end) {
			one.end = n.end
		}
		if n.Status == Failed {
			one.Status = Failed
		}
	}
	return one
}

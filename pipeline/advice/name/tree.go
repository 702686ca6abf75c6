package name

const (
	maxNodes = 200_000 // of a tree
	maxDepth = 4       // words of a phrase
)

// A tree counts in how many answers each beginning of a phrase is. When it is full, it forgets the rarest ones.
type tree struct {
	nodes     []node // parents before children; the root first
	byWord    map[[2]uint32]uint32
	forgotten bool
}

type node struct {
	parent, word  uint32
	answers, last uint32
	next          uint32 // words that follow
}

func newTree() *tree { return &tree{nodes: make([]node, 1), byWord: map[[2]uint32]uint32{}} }

// add counts the beginnings of a phrase in an answer.
func (t *tree) add(answer uint32, folds []uint32) {
	parent := uint32(0)
	for _, word := range folds[:min(len(folds), maxDepth)] {
		n, ok := t.byWord[[2]uint32{parent, word}]
		if !ok {
			n = uint32(len(t.nodes))
			t.byWord[[2]uint32{parent, word}] = n
			t.nodes = append(t.nodes, node{parent: parent, word: word})
			t.nodes[parent].next++
		}
		if each := &t.nodes[n]; each.last != answer {
			each.answers, each.last = each.answers+1, answer
		}
		parent = n
	}
	for least := uint32(1); len(t.nodes) > maxNodes; least++ {
		t.forget(least)
	}
}

// forget drops what few answers have. A child is never in more answers than its parent.
func (t *tree) forget(least uint32) {
	t.forgotten = true
	numbers := make([]uint32, len(t.nodes))
	old := t.nodes
	t.nodes = append(make([]node, 0, maxNodes+maxDepth), old[0])
	clear(t.byWord)
	for i, each := range old[1:] {
		if each.parent = numbers[each.parent]; each.answers > least && (each.parent > 0 || old[i+1].parent == 0) {
			n := uint32(len(t.nodes))
			numbers[i+1] = n
			t.byWord[[2]uint32{each.parent, each.word}] = n
			t.nodes = append(t.nodes, each)
		}
	}
}

// find returns the node of a beginning; 0 if there is none.
func (t *tree) find(folds []uint32) (n uint32) {
	for _, word := range folds {
		if n = t.byWord[[2]uint32{n, word}]; n == 0 {
			return 0
		}
	}
	return n
}

package sink

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

var errRefused, errAway = errors.New("refused"), errors.New("away")

// numbers is a hunt among 0 to n-1 for those that are bad.
func numbers(n, most int, bad func(int) bool) (all, found []int, tries int, err error) {
	for i := range n {
		all = append(all, i)
	}
	h := hunt[int]{
		try: func(some []int) error {
			tries++
			if slices.ContainsFunc(some, bad) {
				return errRefused
			}
			return nil
		},
		refused: func(err error) bool { return errors.Is(err, errRefused) },
		found:   func(one int, _ error) { found = append(found, one) },
		most:    most,
	}
	err = h.among(all)
	return all, found, tries, err
}

func TestAHuntFindsAllThatAreRefused(t *testing.T) {
	t.Parallel()
	for range 2000 {
		n, share := 1+rand.IntN(100), rand.IntN(20)
		marked := map[int]bool{rand.IntN(n): true}
		for range n * share / 20 {
			marked[rand.IntN(n)] = true
		}
		all, found, _, err := numbers(n, n, func(i int) bool { return marked[i] })
		want := slices.DeleteFunc(all, func(i int) bool { return !marked[i] })
		if err != nil || !slices.Equal(found, want) {
			t.Fatalf("of %d found %v, %v; want %v", n, found, err, want)
		}
	}
}

// 16 halvings, then the one alone and what is behind it.
func TestAHuntTriesLittle(t *testing.T) {
	t.Parallel()
	for _, bad := range []int{0, 31_000, 49_999} {
		if _, found, tries, err := numbers(50_000, 10, func(i int) bool { return i == bad }); err != nil || len(found) != 1 || tries > 18 {
			t.Errorf("found %v in %d tries, %v", found, tries, err)
		}
	}
}

func TestAHuntEndsWhereThereAreTooMany(t *testing.T) {
	t.Parallel()
	_, found, tries, err := numbers(50_000, 10, func(int) bool { return true })
	if !errors.Is(err, errMany) || !slices.Equal(found, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || tries > 11*18 {
		t.Errorf("found %v in %d tries, %v", found, tries, err)
	}
}

// What is refused for all together is nobody's fault.
func TestAHuntBlamesNobodyForTheWhole(t *testing.T) {
	t.Parallel()
	h := hunt[int]{
		try: func(some []int) error {
			if len(some) > 2 {
				return errRefused
			}
			return nil
		},
		refused: func(error) bool { return true },
		found:   func(one int, _ error) { t.Errorf("%d is blamed", one) },
		most:    10,
	}
	if err := h.among([]int{1, 2, 3, 4, 5, 6, 7}); err != nil {
		t.Error(err)
	}
}

// A try that the server was away for tells nothing of anyone.
func TestAHuntEndsWhenTheServerGoes(t *testing.T) {
	t.Parallel()
	tries := 0
	h := hunt[int]{
		try: func([]int) error {
			if tries++; tries == 3 {
				return errAway
			}
			return errRefused
		},
		refused: func(err error) bool { return errors.Is(err, errRefused) },
		found:   func(one int, _ error) { t.Errorf("%d is blamed", one) },
		most:    10,
	}
	if err := h.among([]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}); !errors.Is(err, errAway) {
		t.Error(err)
	}
}

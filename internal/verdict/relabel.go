package verdict

// The relabellings of a check: answers are changed so that nothing moved, and what the rule finds then is false.
const (
	NotRelabelled = "none"  // the answers as they came
	RelabelSigns  = "signs" // a random half of the clusters is turned over at the mean of each cell
	RelabelDays   = "days"  // whole days in random order
)

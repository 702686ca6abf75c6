package visitor

import "time"

// Every looks for salts and databases so often.
func (v *Visitors) Every(refresh time.Duration) *Visitors {
	v.refresh = refresh
	return v
}

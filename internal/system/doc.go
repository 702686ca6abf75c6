// Package system tests the whole of answerscope, as a person runs it: commands in processes of their own, which are
// killed, lose power and run out of disk, and the dashboard in real browsers.
package system

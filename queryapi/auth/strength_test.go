package auth

import "testing"

func TestWeakPasswordsAreRefusedByTheWholeRule(t *testing.T) {
	t.Parallel()
	rule := CheckPassword("", 16).Error()
	for _, weak := range []string{
		"password", "aaaaaaaaaaaaaaaa", "passwordpassword", "1234567890123456", "qwertyuiopasdfgh",
		"abcabcabcabcabcabc",
		"analyst_acme_ana", "short but odd", "ånå", string(make([]byte, 1<<20)),
	} {
		if err := CheckPassword(weak, 16, "analyst_acme_ana"); err == nil || err.Error() != rule {
			t.Errorf("%.40q: %v", weak, err)
		}
	}
	for _, strong := range []string{
		"chosen by ana herself", "plum-orbit-tacit-91", "Ärger mit Öfen und Übermut", GeneratePassword(),
	} {
		if err := CheckPassword(strong, 16, "analyst_acme_ana"); err != nil {
			t.Errorf("%q: %v", strong, err)
		}
	}
}

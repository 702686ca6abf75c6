package extract

import "testing"

func TestLanguageOfTheRecord(t *testing.T) {
	cases := map[string]bool{
		"en": true, "EN": true, "en-US": true, "en_GB": true, "eng": false, "de": false, "fr-CA": false,
		"ennui": false, "-en": false,
	}
	for language, want := range cases {
		if got := isEnglish(language, "The best of the rest is that it was with you."); got != want {
			t.Errorf("language %q is English: %v, want %v", language, got, want)
		}
	}
}

// Where the record is silent, the words of the text decide: answers as assistants write them, in many languages, full
// of English names.
func TestLanguageOfTheText(t *testing.T) {
	cases := []struct {
		english bool
		text    string
	}{
		{true, "Here are the best laptops under $1000: **Apple MacBook Air** offers great battery life, " +
			"and the Dell XPS 13 is a solid choice for students."},
		{true, "* **HP Spectre** – Light, with a sharp screen.\n* **Lenovo ThinkPad** – The keyboard to beat."},
		{true, "Apple is great."},
		{true, "THE BEST OF THEM ARE FROM SONY."},
		{false, ""},
		{false, "MacBook Air, XPS 13, ThinkPad X1"},
		{false, "Hier sind die besten Laptops unter 1000 €: Das **Apple MacBook Air** bietet eine lange Laufzeit " +
			"und ist leicht. The Verge lobt es."},
		{false, "Voici les meilleurs ordinateurs portables : le **MacBook Air** est léger et offre une grande " +
			"autonomie pour les étudiants."},
		{false, "Estos son los mejores portátiles: el MacBook Air es ligero y la batería dura mucho para un equipo " +
			"de su tamaño."},
		{false,
			"Ecco i migliori portatili: il MacBook Air è leggero e la batteria dura a lungo, con un ottimo schermo."},
		{false,
			"Os melhores notebooks são o MacBook Air e o Dell XPS; a bateria do primeiro dura mais e não esquenta."},
		{false, "De beste laptops zijn de MacBook Air en de Dell XPS; het scherm van de eerste is scherp."},
		{false, "De bästa datorerna är MacBook Air och Dell XPS, som är lätta och har bra batteri för studenter."},
		{false, "De bedste bærbare er MacBook Air og Dell XPS til studerende, for det er let og billigt."},
		{false, "Najlepsze laptopy to MacBook Air i Dell XPS, które są lekkie i nie są drogie dla studentów."},
		{false, "En iyi dizüstü bilgisayarlar MacBook Air ve Dell XPS, öğrenciler için bir tercih."},
		{false, "Laptop terbaik untuk mahasiswa adalah MacBook Air dan Dell XPS yang ringan."},
		{false, "Лучшие ноутбуки: MacBook Air и Dell XPS. The best."},
		{false, "最好的笔记本电脑是 MacBook Air 和 Dell XPS。"},
		{false, "学生におすすめのノートパソコンはMacBook AirとDell XPSです。"},
		{false, "أفضل أجهزة الكمبيوتر المحمولة هي MacBook Air و Dell XPS."},
	}
	for _, c := range cases {
		if got := isEnglish("", c.text); got != c.english {
			t.Errorf("%q is English: %v, want %v", c.text, got, c.english)
		}
	}
}

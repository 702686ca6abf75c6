package useragent

import (
	"strings"
	"testing"
)

func TestLook(t *testing.T) {
	for _, ua := range browsers {
		if agent := Look(ua); agent != (Agent{}) {
			t.Errorf("%q is %+v, want a browser", ua, agent)
		}
	}
	for _, ua := range bots {
		if agent := Look(ua); !agent.Bot || agent.Crawler != nil {
			t.Errorf("%q is %+v, want a bot", ua, agent)
		}
	}
	gpt := Look(
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)")
	if !gpt.Bot || gpt.Crawler == nil || gpt.Crawler.Name != "GPTBot" || gpt.Crawler.Purpose != Training {
		t.Errorf("GPTBot is %+v", gpt)
	}
	if agent := Look(strings.Repeat("long ", 512) + "curl/8 Googlebot/2.1"); !agent.Bot {
		t.Errorf("a bot at the end of a long agent is %+v", agent)
	}
}

// An expression is asked once of an agent, and of all of it: without that, 4 KB that were made for it took 9 ms.
func TestLookAsksAnExpressionOnce(t *testing.T) {
	for ua, want := range map[string]bool{
		"xsentry/1 sentry/2": true, "xsentry/1": false, "AdsBot-Google-x AdsBot-Google": true,
		"AdsBot-Google-AdsBot-Google-": false,
		"xcurl curl":                   false, "spider.com spider.com": false, "spider.com Spider of spider.com": true,
		strings.Repeat("spider.com ", 99) + "Googlebot/": true,
	} {
		if got := Look(ua).Bot; got != want {
			t.Errorf("%q is a bot: %t", ua, got)
		}
	}
}

func TestLookDoesNotAllocate(t *testing.T) {
	ua := browsers[0]
	if n := testing.AllocsPerRun(1000, func() { Look(ua) }); n != 0 {
		t.Errorf("a browser allocates %v times", n)
	}
}

func BenchmarkLook(b *testing.B) {
	Look("") // reads the patterns
	b.Run("browsers", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			Look(browsers[i%len(browsers)])
		}
	})
	b.Run("4 KB made for it", func(b *testing.B) {
		ua := strings.Repeat("AdsBot-Google-", 4096/len("AdsBot-Google-"))
		for b.Loop() {
			Look(ua)
		}
	})
	b.Run("reading the patterns", func(b *testing.B) {
		for b.Loop() {
			readPatterns()
		}
	})
}

var bots = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
	"curl/8.9.1",
	"python-requests/2.32.3",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1",
	"Mozilla/5.0 (linux) AppleWebKit/537.36 (KHTML, like Gecko) jsdom/22.1.0",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 (new; " +
		"+https://x.example)",
}

var browsers = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 " +
		"Safari/537.36 Edg/142.0.0.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 " +
		"Safari/537.36 OPR/125.0.0.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 " +
		"Safari/605.1.15",
	"Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 " +
		"Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, " +
		"like Gecko) CriOS/142.0.0.0 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/145.0 " +
		"Mobile/15E148 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 " +
		"EdgiOS/142.0.0.0 Mobile/15E148 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, " +
		"like Gecko) GSA/390.0.812345678 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
		"DuckDuckGo/7 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
		"Instagram 405.0.0.25.72 (iPhone15,2; iOS 18_5; en_US; en; scale=3.00; 1179x2556; 801234567)",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
		"[FBAN/FBIOS;FBAV/530.0.0.50.75;FBBV/801234567;FBDV/iPhone15,2;FBMD/iPhone;FBSN/iOS;FBSV/18.5;FBSS/3;FBCR/;" +
		"FBID/phone;FBLC/en_US;FBOP/80]",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
		"Snapchat/13.60.0.40 (like Safari/8621.2.5.10.10, panda)",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
		"[LinkedInApp]/9.31.2",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22F76 " +
		"Twitter for iPhone/11.30",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
		"[Pinterest/iOS]",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 " +
		"musical_ly_40.5.0 BytedanceWebview/d8a21c6 TikTok 40.5.0",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/29.0 Chrome/136.0.0.0 " +
		"Mobile Safari/537.36",
	"Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0",
	"Mozilla/5.0 (Linux; Android 15; SM-S928B Build/AP3A.240905.015.A2; wv) AppleWebKit/537.36 (KHTML, " +
		"like Gecko) Version/4.0 Chrome/142.0.7444.102 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/530.0.0.48.74;]",
	"Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008; wv) AppleWebKit/537.36 (KHTML, " +
		"like Gecko) Version/4.0 Chrome/142.0.7444.142 Mobile Safari/537.36 Instagram 406.0.0.58.159 Android " +
		"(35/15; 480dpi; 1080x2400; OPPO)",
	"Mozilla/5.0 (Linux; Android 16; Pixel 10 Pro XL Build/CP1A.260305.018; wv) AppleWebKit/537.36 (KHTML, " +
		"like Gecko) Version/4.0 Chrome/146.0.7680.174 Mobile Safari/537.36 MetaIAB Facebook",
	"Mozilla/5.0 (Linux; Android 14; SM-A546B Build/UP1A.231005.007; wv) AppleWebKit/537.36 (KHTML, " +
		"like Gecko) Version/4.0 Chrome/142.0.0.0 Mobile Safari/537.36 GSA/16.40.30.sa.arm64",
	"Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240805.005; wv) AppleWebKit/537.36 (KHTML, " +
		"like Gecko) Version/4.0 Chrome/142.0.7444.48 Mobile Safari/537.36 Line/15.17.1/IAB",
	"Mozilla/5.0 (Linux; Android 9; CUBOT_X18_Plus) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile " +
		"Safari/537.36",
	"Mozilla/5.0 (Linux; Android 9; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile " +
		"Safari/537.36",
	"Mozilla/5.0 (Linux; Android 12; KFTRWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/140.4.1 like " +
		"Chrome/140.0.7339.207 Safari/537.36",
	"Mozilla/5.0 (Linux; Android 13; Quest 3) AppleWebKit/537.36 (KHTML, like Gecko) OculusBrowser/40.0.0.0 " +
		"Chrome/138.0.7204.157 VR Safari/537.36",
	"Mozilla/5.0 (Linux; Android 14; 23127PN0CG Build/UKQ1.230804.001; wv) AppleWebKit/537.36 (KHTML, " +
		"like Gecko) Version/4.0 Chrome/130.0.6723.103 Mobile Safari/537.36 XWEB/1300467 MMWEBSDK/20250201 " +
		"MicroMessenger/8.0.58.2841(0x28003A3D) WeChat/arm64 Weixin NetType/WIFI Language/zh_CN ABI/arm64",
	"Mozilla/5.0 (Linux; U; Android 14; zh-cn; V2307A Build/UP1A.231005.007) AppleWebKit/537.36 (KHTML, " +
		"like Gecko) Version/4.0 Chrome/123.0.6312.118 Mobile Safari/537.36 VivoBrowser/22.7.0.2",
	"Mozilla/5.0 (Linux; U; Android 14; en-US; 2201117TY) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 " +
		"Chrome/100.0.4896.127 UCBrowser/13.7.8.1321 Mobile Safari/537.36",
	"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
	"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15 " +
		"Epiphany/605.1.15",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
		"YaBrowser/25.10.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
		"Safari/537.36 Vivaldi/7.6",
	"Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
	"Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; http://bsalsa.com)",
	"Mozilla/5.0 (PlayStation; PlayStation 5/8.40) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 " +
		"Safari/605.1.15",
	"Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/7.0 TV Safari/537.36",
	"Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.4606.128 Safari/537.36 " +
		"WebAppManager",
	"Mozilla/5.0 (Mobile; Nokia 2780 Flip; rv:84.0) Gecko/84.0 Firefox/84.0 KAIOS/3.1",
	"Opera/9.80 (Android; Opera Mini/70.0.2254/191.303; U; en) Presto/2.12.423 Version/12.16",
}

// t.js reports the visits that AI platforms send to a site to a collector. Nothing is sent, and nothing kept, for any
// other visit; for a reported one the browser keeps one entry of sessionStorage until its tab is closed.
//
//   <script src="https://collector.example/t.js" data-brand="BRAND ID" defer></script>
//   window.answerscope("goal", "signup", { value: 49.9, currency: "EUR" })
//
// data-dnt beside data-brand makes it heed Do Not Track, too. `go generate` makes served/t.js of this file, which a test
// holds to 1,024 bytes gzipped: what could be written more plainly was, in most places, a few bytes longer. Globals that
// are parameters get names of one letter.
;((document, navigator) => {
  // Whatever happens in here, the page must not notice.
  const attempt = (act) => {
    try {
      act()
    } catch (e) {}
  }

  // A second tag of it: count once.
  window.answerscope || attempt(() => {
    let { src, dataset } = document.currentScript
    let collect = new URL("t/collect", src)
    let known // the tab's session: the platform's slug, then a random number, 0.5 or 5e-7; undefined before its first view
    let last // the page viewed last

    let page = () => location.href.split("#")[0] // a fragment is a part of a page

    // The platform that this page was reached from, looked for in the server's order: the referrer's host (one with a dot:
    // https://copilot/ is a machine in an office), utm_source, a parameter that only a platform writes, and
    // utm_source of the referrer. A host is known with the names below it, a word alone, the package of an Android app
    // by the word in it.
    let slug
    let found =
      [document.referrer.split("?")[0], location.search, document.referrer].some((text) =>
        PLATFORMS.split(" ").some((platform) =>
          RegExp(
            `(^(https?://(?=[^/]*\\.)|android.*\\.)|[?&]utm_source=|^\\?(.*&)?PARAMETERS=)([^/&]*\\.(?=[^/&]*\\.))?(${platform})([/:&]|$)`,
            "i",
          ).test(text, (slug = platform.split(/[(|]/)[0])),
        ),
      ) && slug + Math.random()

    let send = (goal) => {
      attempt(() => (known = sessionStorage.answerscope || known)) // begun by another page of the tab, perhaps
      let session = known || found
      if (
        !session ||
        navigator.webdriver || // a driven browser is no visitor
        document.prerendering || // it has not been seen, and may never be
        navigator.globalPrivacyControl ||
        (navigator.doNotTrack == 1 && "dnt" in dataset)
      )
        return
      let body = JSON.stringify({
        b: dataset.brand,
        e: goal && "goal",
        g: goal,
        u: page(),
        r: document.referrer,
        i: session,
        n: +!known,
        s: session.split(/\d/)[0],
        l: navigator.language,
        d: screen.width + "x" + screen.height,
        z: Intl.DateTimeFormat().resolvedOptions().timeZone,
      })
      known = session // without storage a session is a page's
      attempt(() => (sessionStorage.answerscope = session))
      let sent
      // A string, since another body would be preflighted. Where a page has the Referrer-Policy same-origin, as Django's do,
      // Safari and Firefox send a beacon with the Origin null, as the Fetch Standard wants it; Chromium does not.
      window.chrome && attempt(() => (sent = navigator.sendBeacon(collect, body)))
      sent || fetch(collect, { method: "POST", body, keepalive: 1 }).catch(attempt) // which takes the error for a function, and hides that, too
    }

    let view = () => attempt(() => page() != last && ((last = page()), send()))

    // The same page is seen anew: back from bfcache, or for the first time after it was prerendered.
    let again = (event) => event.persisted != false && view((last = 0))

    let wrap = (method, after) => {
      let original = history[method]
      history[method] = (...given) => {
        given = original.apply(history, given)
        after()
        return given
      }
    }

    window.answerscope = (event, name, details) => attempt(() => event == "goal" && send({ ...details, name }))
    wrap("pushState", view)
    wrap("replaceState", () => (last = page()))
    addEventListener("popstate", view)
    addEventListener("pageshow", again)
    document.addEventListener("prerenderingchange", again)
    view()
  })
})(document, navigator)

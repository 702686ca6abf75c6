// t.js tells a collector of visits that AI platforms send to a site. Nothing is sent, and nothing kept, for any other
// visit; of one that is told of, the browser keeps one entry of sessionStorage. `go generate` makes served/t.js of it.
//
//   <script src="https://collector.example/t.js" data-brand="BRAND ID" defer></script>
//   window.answerscope("goal", "signup", {value: 49.9, currency: "EUR"})
//
// data-dnt="" beside data-brand also heeds Do Not Track. The file is small before it is fast or pretty: a test holds
// it to 1,000 bytes gzipped. Globals are parameters because esbuild gives those one letter.
((window, document, navigator, location, history) => {
  // Whatever happens in here, the page must not notice.
  const attempt = (act) => {
    try {
      act()
    } catch (e) {}
  }

  attempt(() => {
    const script = document.currentScript
    if (typeof window.answerscope == "function") return // a second script tag: count once
    let kept // the session, "id platform", also where there is no storage
    let last // the page that was viewed last
    let referrer

    const page = () => location.href.split("#")[0] // a fragment is a place on a page

    // While a page is prerendered nobody has seen it.
    const onceSeen = (act) =>
      document.prerendering ? document.addEventListener("prerenderingchange", () => attempt(act)) : attempt(act)

    // The slug of the platform that this page was reached from. A token is a referrer or a parameter of a URL; those that
    // can name a platform get a dot in front, so that chatgpt.com is found in .www.chatgpt.com and not in notchatgpt.com.
    // A referrer needs a dot of its own: http://copilot/ is a host of somebody's office.
    const detect = () => {
      for (const token of (document.referrer + "&" + location.search).toLowerCase().split(/[?&#]/))
        for (const platform of PLATFORMS.split(" "))
          if (
            RegExp("^\\.([^/]*\\.)?(" + platform.replace(/\./g, "\\.") + ")([:/]|$)").test(
              token.replace(/^(utm_source=|https?:\/\/(?=[^/]*\.)|PARAMETERS)/, "."),
            )
          )
            return platform.split("|")[0]
    }

    const send = (event, goal) => {
      if (navigator.globalPrivacyControl || (script.dataset.dnt != null && navigator.doNotTrack == 1)) return
      let first
      attempt(() => (kept = sessionStorage.answerscope || kept)) // another page of the tab may have begun it
      if (!kept) {
        const platform = detect()
        if (goal || !platform) return
        first = 1
        kept = Math.random().toString(36).slice(2) + Date.now().toString(36) + " " + platform
        attempt(() => (sessionStorage.answerscope = kept))
      }
      const [session, platform] = kept.split(" ")
      const url = new URL("t/collect", script.src).href
      const body = JSON.stringify({
        b: script.dataset.brand,
        e: event,
        g: goal,
        u: page(),
        r: referrer,
        i: session,
        n: first,
        s: platform,
        l: navigator.language,
        d: screen.width + "x" + screen.height,
        z: Intl.DateTimeFormat().resolvedOptions().timeZone,
      })
      let sent
      attempt(() => (sent = navigator.sendBeacon(url, body)))
      sent || fetch(url, { method: "POST", body, keepalive: true }).catch(() => {})
    }

    // A view is counted when the page is another than the one before.
    const view = () =>
      onceSeen(() => {
        if (page() == last) return
        referrer = last || document.referrer
        last = page()
        send("view")
      })

    window.answerscope = (event, name, details) => {
      if (event == "goal") onceSeen(() => send(event, { ...details, name }))
    }
    for (const method of ["pushState", "replaceState"]) {
      const original = history[method]
      history[method] = function () {
        const result = original.apply(this, arguments)
        attempt(() => (method == "pushState" ? view() : last && (last = page())))
        return result
      }
    }
    window.addEventListener("popstate", view)
    window.addEventListener("pageshow", (event) => {
      if (!event.persisted) return
      last = "" // back from bfcache: the same page is viewed once more
      view()
    })
    view()
  })
})(window, document, navigator, location, history)

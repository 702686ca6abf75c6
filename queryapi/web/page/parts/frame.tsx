import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { root, send } from "../api.ts"
import type { Brand, Session } from "../bodies.ts"
import { go, path } from "../route.ts"
import { screens } from "../screens/list.ts"
import { screen as addressOfScreen } from "./filters.tsx"
import { Problem, useAction } from "./form.tsx"

interface Props {
  session?: Session
  brands: Brand[]
  brand?: Brand
  screen: string
  children: ComponentChildren
}

// Frame is around every screen: where one can go, and the way out.
export function Frame({ session, brands, brand, screen, children }: Props) {
  const nav = useRef<HTMLElement>(null)
  const { busy, failed, run } = useAction()
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>("[aria-current]") // on a phone, where the list scrolls
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - (nav.current.clientWidth - current.offsetWidth) / 2
  }, [path.value, brand?.id])
  const here = (address: string) => (path.value === address ? "page" : undefined)
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="side">
        <a class="logo" href="/">
          <Mark /> answerscope
        </a>
        {brand && (
          <label class="brand">
            <span class="hidden">Brand</span>
            <select value={brand.id} onInput={(event) => switchTo(brands, event.currentTarget.value, screen.split("/")[0]!)}>
              {brands.map((b) => (
                <option key={b.id} value={b.id}>
                  {b.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <nav ref={nav} aria-label={brand ? brand.name : "Organization"}>
          <ul>
            {brand &&
              screens.map((s) => (
                <li key={s.path}>
                  <a href={addressOfScreen(brand, s.path)} aria-current={s.path === screen.split("/")[0] ? "page" : undefined}>
                    {s.name}
                  </a>
                </li>
              ))}
            {!brand && (
              <>
                <li>
                  <a href="/" aria-current={here("/")}>
                    Brands
                  </a>
                </li>
                <li>
                  <a href="/settings" aria-current={here("/settings")}>
                    Organization
                  </a>
                </li>
              </>
            )}
          </ul>
        </nav>
        <div class="foot">
          {brand && (
            <a class="button plain tight" href="/settings">
              Organization
            </a>
          )}
          <span class="who" title={session?.email}>
            {session?.email}
          </span>
          <button type="button" class="button tight" disabled={busy} onClick={() => run(signOut)}>
            Sign out
          </button>
        </div>
        <Problem text={failed} />
      </header>
      {children}
    </div>
  )
}

// Mark is the sign of the product, as in icon.svg.
export function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0b6e55" />
      <path d="M7 21.5 13 14l4.5 4.5L25 9" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" />
      <circle cx="25" cy="9" r="2.6" fill="#8ff0cd" />
    </svg>
  )
}

function switchTo(brands: Brand[], id: string, screen: string): void {
  const next = brands.find((b) => b.id === id)
  if (next) go(addressOfScreen(next, screen, { topic_id: undefined })) // a topic is of one brand
}

async function signOut(): Promise<void> {
  await send("DELETE", `${root}/session`)
  location.replace("/signin")
  await new Promise(() => {}) // the page goes away
}

// Screen is a screen's main part, with its one heading of level 1.
export function Screen({ name, of, tools, children }: { name: string; of?: string; tools?: ComponentChildren; children: ComponentChildren }) {
  useEffect(() => {
    document.title = [name, of, "answerscope"].filter(Boolean).join(" · ")
  }, [name, of])
  return (
    <main id="main" tabIndex={-1}>
      <div class="head">
        <div>
          <h1>{name}</h1>
          {of && <p>{of}</p>}
        </div>
        {tools}
      </div>
      {children}
    </main>
  )
}

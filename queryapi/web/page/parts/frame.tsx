import type { ComponentChildren } from "preact"
import { useContext, useEffect, useLayoutEffect, useState } from "preact/hooks"
import { root, send } from "../api.ts"
import type { Brand, Session } from "../bodies.ts"
import { density, hotkeys, theme } from "../preferences.ts"
import { arrive, path } from "../route.ts"
import { screens } from "../screens/list.ts"
import { editor, mayEdit } from "../session.ts"
import { Brands, Teller } from "./toolbar.tsx"
import { screen as addressOfScreen } from "./filters.tsx"
import { Button, Problem, Select, useAction } from "./form.tsx"
import { Chapter } from "./chapter.ts"
import { Icon } from "./icon.tsx"
import { KeyList, useKeys } from "./keys.tsx"
import { Menu } from "./menu.tsx"

interface Props {
  session?: Session
  brands: Brand[]
  brand?: Brand
  screen: string
  children: ComponentChildren
}

// Frame is around every screen: where one can go, and the way out. On a phone a button opens it.
export function Frame({ session, brands, brand, screen, children }: Props) {
  const [open, unfold] = useState(false)
  const [listed, list] = useState(false)
  const { busy, failed, run } = useAction()
  useKeys(brand, () => list(true))
  editor.value = !!session && mayEdit(session)
  useEffect(() => unfold(false), [path.value])
  const here = (address: string) => (path.value === address ? ("page" as const) : undefined)
  const pages = brand
    ? screens.filter((s) => s.group > 0).map((s) => ({ ...s, href: addressOfScreen(brand, s.path), current: s.path === screen.split("/")[0] ? ("page" as const) : undefined }))
    : [
        { name: "Brands", href: "/", current: here("/"), group: 1 },
        { name: "Organization", href: "/settings", current: here("/settings"), group: 1 },
      ]
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class={open ? "side open" : "side"}>
        <a class="logo" href="/">
          <Mark /> answerscope
        </a>
        <Button kind="tight unfold" aria-expanded={open} onClick={() => unfold(!open)}>
          <Icon name="menu" /> Menu
        </Button>
        <nav aria-label={brand ? brand.name : "Organization"}>
          <ul>
            {pages.map(({ name, href, current, group }, i) => (
              <li key={href} class={group === pages[i - 1]?.group ? "" : "apart"}>
                <a href={href} aria-current={current}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="foot">
          {brand && (
            <a class="button plain tight" href="/settings">
              Organization
            </a>
          )}
          <Menu name={`Account: ${session?.email ?? ""}`} kind="button plain tight" shows={<><span class="who">{session?.email}</span> <Icon name="chevron" /></>}>
            <Preferences onList={() => list(true)} />
          </Menu>
          <Button kind="tight" disabled={busy} onClick={() => run(signOut)}>
            Sign out
          </Button>
        </div>
        <Problem text={failed} />
      </header>
      <Brands.Provider value={brands}>{children}</Brands.Provider>
      {listed && <KeyList onClose={() => list(false)} />}
    </div>
  )
}

// Preferences are those of this browser.
function Preferences({ onList }: { onList: () => void }) {
  return (
    <>
      <Select label="Theme" value={theme.value} onInput={(value) => (theme.value = value)}>
        <option value="">As the system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </Select>
      <label class="check">
        <input type="checkbox" checked={density.value !== ""} onInput={() => (density.value = density.value ? "" : "compact")} /> Compact tables
      </label>
      <label class="check">
        <input type="checkbox" checked={hotkeys.value !== "off"} onInput={() => (hotkeys.value = hotkeys.value ? "" : "off")} /> Single keys
      </label>
      <Button kind="tight" onClick={onList}>
        List of keys
      </Button>
      <Teller name="Change password" kind="tight" dialog="PasswordDialog" />
    </>
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

async function signOut(): Promise<void> {
  await send("DELETE", `${root}/session`)
  localStorage.clear()
  location.replace("/signin")
  await new Promise(() => {}) // the page goes away
}

interface ScreenProps {
  name: string
  of?: string
  bar?: ComponentChildren // the line above it, of a brand's screen, which has the brand's name
  tools?: ComponentChildren
  children: ComponentChildren
}

// Screen is a screen's main part, with its one heading of level 1.
export function Screen({ name, of, bar, tools, children }: ScreenProps) {
  const chapter = useContext(Chapter)
  useLayoutEffect(() => void (chapter || arrive()), [])
  useEffect(() => {
    if (!chapter) document.title = [name, of, "answerscope"].filter(Boolean).join(" · ")
  }, [name, of])
  if (chapter) {
    return (
      <section class="chapter" aria-label={name}>
        <h2>{name}</h2>
        {children}
      </section>
    )
  }
  return (
    <div class="content">
      {bar}
      <main id="main" tabIndex={-1}>
        <div class="head">
          <div>
            <h1>{name}</h1>
            {of && !bar && <p>{of}</p>}
          </div>
          {tools}
        </div>
        {children}
      </main>
    </div>
  )
}

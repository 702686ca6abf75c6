import type { ComponentChildren, ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"
import { asOf, refresh, send, useAnswer } from "../api.ts"
import type { Brand, Comparison, Session, Summary } from "../bodies.ts"
import { plural, time } from "../format.ts"
import { question, screen } from "../parts/filters.tsx"
import { Button, Field, Problem, useAction } from "../parts/form.tsx"
import { Mark, Screen } from "../parts/frame.tsx"
import { Icon } from "../parts/icon.tsx"
import { Failed, Skeleton } from "../parts/state.tsx"
import { Brands } from "../parts/toolbar.tsx"
import { go, path, shared } from "../route.ts"
import { screens } from "./list.ts"

interface Link { title: string; brand: Brand; screens: string[]; filters: Record<string, string> }
type Shown = Record<string, ComponentType<{ brand: Brand; session: Session }>>

const viewer: Session = { userId: "", email: "", organizationId: "", role: "viewer" }

// Shared is what a share link shows: its screens, with nothing to edit and no way elsewhere.
export function Shared({ shown }: { shown: Shown }) {
  const link = useAnswer<Link>("/share/link")
  if (link.failure?.status === 401) return <Locked />
  if (link.failure?.status === 404) return <Nothing text="It may have ended, or its address is not complete. Ask whoever sent it for another one." />
  if (link.failure) {
    return (
      <Entrance name="Not available">
        <Failed message={link.failure.message} />
      </Entrance>
    )
  }
  if (!link.data) return <Skeleton height={320} />
  const { filters } = link.data
  shared.value = { screens: link.data.screens, fixed: filters.date_from ? { ...filters, compare: "none" } : filters }
  return <Screens link={link.data} shown={shown} />
}

function Entrance({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class="entrance">
      <Screen name={name}>{children}</Screen>
    </div>
  )
}

const Nothing = ({ text }: { text: string }) => (
  <Entrance name="This link does not work">
    <p class="soft">{text}</p>
  </Entrance>
)

// Locked asks for the link's password.
function Locked() {
  const [password, setPassword] = useState("")
  const { busy, failed, submit } = useAction()
  const unlock = () => send("POST", "/share/session", { password }).then(refresh)
  return (
    <Entrance name="This link has a password">
      <form onSubmit={submit(unlock)}>
        <Field label="Password" type="password" autoComplete="off" value={password} onInput={setPassword} required autoFocus />
        <Problem text={failed} />
        <button class="button primary" disabled={busy}>
          Open
        </button>
      </form>
    </Entrance>
  )
}

// Screens are those of the link, in the order of the dashboard.
function Screens({ link: { brand, title, ...link }, shown }: { link: Link; shown: Shown }) {
  const [open, unfold] = useState(false)
  const name = path.value.split("/")[3] ?? ""
  const pages = screens.filter((s) => link.screens.includes(s.path || "overview"))
  const [first] = pages
  const page = pages.find((s) => s.path === (name === "overview" ? "" : name))
  useEffect(() => unfold(false), [name])
  useEffect(() => {
    if (!page && !name) go(screen(brand, first!.path)!, true)
  }, [page, name])
  const text = useFoot(brand, title, page?.path)
  if (!page) return name ? <Nothing text="It does not show this." /> : null
  const Show = shown[page.path]!
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class={open ? "side open" : "side"}>
        <span class="logo">
          <Mark /> {brand.name}
        </span>
        <Button kind="tight unfold" aria-expanded={open} onClick={() => unfold(!open)}>
          <Icon name="menu" /> Menu
        </Button>
        <nav aria-label={brand.name}>
          <ul>
            {pages.map((s) => (
              <li key={s.path}>
                <a href={screen(brand, s.path)} aria-current={s === page ? "page" : undefined}>
                  {s.name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="foot">
          <Button kind="tight" onClick={() => print()}>
            <Icon name="print" /> Print
          </Button>
        </div>
      </header>
      <Brands.Provider value={[brand]}>
        <div class="content">
          <p class="printed">{text}</p>
          <Show key={page.path} brand={brand} session={viewer} />
          <footer class="small soft screen-only" style={{ padding: "0 var(--s6) var(--s5)" }}>
            {text}
          </footer>
        </div>
      </Brands.Provider>
    </div>
  )
}

// useFoot says of how many answers the figures are, and as of when.
function useFoot(brand: Brand, title: string, page?: string): string {
  const summary = useAnswer<Summary>(page === "" || page === "answers" ? question("visibility-summary", brand) : null)
  const comparison = useAnswer<Comparison>(page === "competitors" ? question("competitor-comparison", brand) : null)
  const n = summary.data?.totals.resultCount ?? comparison.data?.brand.result_count
  return [title, n !== undefined && plural(n, "answer"), asOf.value && `as of ${time(asOf.value)}`].filter(Boolean).join(" · ")
}

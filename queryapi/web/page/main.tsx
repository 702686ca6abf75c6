import { type ComponentType, render } from "preact"
import { useEffect } from "preact/hooks"
import { metrics, root, useAnswer } from "./api.ts"
import type { Brand, Brands, Session } from "./bodies.ts"
import { BrandList, Failed, Frame, NotFound, Overview, Screen, SignIn, Skeleton } from "./first.ts"
import { later } from "./later.tsx"
import { path, query, token } from "./route.ts"
import { screens } from "./screens/list.ts"
import { mayEdit } from "./session.ts"

// A page that the browser has kept whole is asked for again: its session may have ended.
addEventListener("pageshow", (event) => event.persisted && location.reload())

const look = () => import("./look.ts")
const manage = () => import("./manage.ts")
const tell = () => import("./tell.ts")
const advice = () => import("./advice.ts")
const Shared = later(() => tell().then((m) => m.Shared))
const SetUp = later(() => manage().then((m) => m.SetUp))
const Settings = later(() => manage().then((m) => m.Settings))

const shown: Record<(typeof screens)[number]["path"], ComponentType<{ brand: Brand; session: Session }>> = {
  "": Overview,
  opportunities: later(() => advice().then((m) => m.Opportunities)),
  alerts: later(() => tell().then((m) => m.Alerts)),
  competitors: later(() => look().then((m) => m.Competitors)),
  prompts: later(() => look().then((m) => m.Prompts)),
  answers: later(() => look().then((m) => m.Answers)),
  sources: later(() => look().then((m) => m.Sources)),
  searches: later(() => advice().then((m) => m.Searches)),
  traffic: later(() => look().then((m) => m.Traffic)),
  report: later(() => look().then((m) => m.Report)),
  shopping: later(() => look().then((m) => m.Shopping)),
  tracking: later(() => manage().then((m) => m.Tracking)),
  settings: later(() => manage().then((m) => m.BrandSettings)),
}

function Page() {
  return token ? <Shared shown={shown} /> : path.value === "/signin" ? <SignIn /> : <Signed />
}

// Signed is every screen behind the sign-in.
function Signed() {
  const session = useAnswer<Session>(`${root}/session`)
  const brands = useAnswer<Brands>(metrics("brands"))
  const failure = session.failure ?? brands.failure
  const [slug, name] = ofBrand(path.value)
  const list = brands.data?.brands
  const brand = list?.find((b) => b.slug === slug)
  return (
    <Frame session={session.data} brands={list ?? []} brand={brand} screen={name}>
      {failure ? (
        <Screen name="Not available">
          <Failed message={failure.message} />
        </Screen>
      ) : !session.data || !list ? (
        <Skeleton height={320} />
      ) : (
        <Content session={session.data} brands={list} brand={brand} name={name} />
      )}
    </Frame>
  )
}

// whenIdle runs a task once the browser has nothing else to do.
const whenIdle = (run: () => void) => ("requestIdleCallback" in window ? requestIdleCallback(run) : setTimeout(run, 2000))

function Content({ session, brands, brand, name }: { session: Session; brands: Brand[]; brand?: Brand; name: string }) {
  useEffect(() => void whenIdle(() => look().catch(() => {})), []) // most go on to one of its screens
  if (path.value === "/") return mayEdit(session) && (brands.length === 0 || query.value.get("set_up")) ? <SetUp session={session} brands={brands} /> : <BrandList session={session} brands={brands} />
  if (path.value === "/settings") return <Settings session={session} />
  const known = screens.find((s) => s.path === name.replace(/^answers\/[^/]+$/, "answers"))
  if (!brand || !known) return <NotFound />
  const Show = shown[known.path]
  return <Show key={brand.id} brand={brand} session={session} />
}

// ofBrand reads /brands/{slug}/{screen}.
function ofBrand(path: string): [slug: string, screen: string] {
  const [, first, slug, ...rest] = path.split("/")
  if (first !== "brands" || !slug) return ["", ""]
  try {
    return [decodeURIComponent(slug), rest.join("/")]
  } catch {
    return ["", ""]
  }
}

render(<Page />, document.getElementById("page")!)

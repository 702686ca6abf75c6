import { type ComponentType, render } from "preact"
import { metrics, root, useAnswer } from "./api.ts"
import type { Brand, Brands, Session } from "./bodies.ts"
import { Frame, Screen } from "./parts/frame.tsx"
import { Failed, Skeleton } from "./parts/state.tsx"
import { path, query } from "./route.ts"
import { Answers } from "./screens/answers.tsx"
import { BrandSettings } from "./screens/brand_settings.tsx"
import { BrandList } from "./screens/brands.tsx"
import { Competitors } from "./screens/competitors.tsx"
import { NotFound } from "./screens/not_found.tsx"
import { Overview } from "./screens/overview.tsx"
import { Prompts } from "./screens/prompts.tsx"
import { SetUp } from "./screens/set_up.tsx"
import { Settings } from "./screens/settings.tsx"
import { Shopping } from "./screens/shopping.tsx"
import { SignIn } from "./screens/sign_in.tsx"
import { Sources } from "./screens/sources.tsx"
import { Tracking } from "./screens/tracking.tsx"
import { Traffic } from "./screens/traffic.tsx"
import { screens } from "./screens/list.ts"
import { mayEdit } from "./session.ts"

// A page that the browser has kept whole is asked for again: its session may have ended.
addEventListener("pageshow", (event) => event.persisted && location.reload())

const shown: Record<(typeof screens)[number]["path"], ComponentType<{ brand: Brand; session: Session }>> = { "": Overview, competitors: Competitors, prompts: Prompts, answers: Answers, sources: Sources, traffic: Traffic, shopping: Shopping, tracking: Tracking, settings: BrandSettings }

function Page() {
  return path.value === "/signin" ? <SignIn /> : <Signed />
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

function Content({ session, brands, brand, name }: { session: Session; brands: Brand[]; brand?: Brand; name: string }) {
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

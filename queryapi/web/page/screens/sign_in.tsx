import { useState } from "preact/hooks"
import { Failure, metrics, root, send } from "../api.ts"
import type { Brands } from "../bodies.ts"
import { Field, Problem, useAction } from "../parts/form.tsx"
import { Mark, Screen } from "../parts/frame.tsx"
import { query } from "../route.ts"
import { meta } from "../session.ts"

const oidc = meta("oidc")

export function SignIn() {
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const [notice, setNotice] = useState("")
  const { busy, failed, run, submit } = useAction()
  const signIn = async () => {
    try {
      await send("POST", `${root}/session`, { email, password })
    } catch (error) {
      if (error instanceof Failure && error.status === 400) throw new Failure(400, "E-mail or password is wrong.")
      throw error
    }
    location.replace(await landing())
    await new Promise(() => {}) // the page goes away
  }
  const reset = () => run(async () => setNotice((await send<{ message: string }>("POST", `${root}/reset`, { email })).message))
  return (
    <div class="entrance">
      <Screen
        name="Sign in"
        tools={
          <span class="logo">
            <Mark /> answerscope
          </span>
        }
      >
        <form onSubmit={submit(signIn)}>
          <Field label="E-mail" type="email" autoComplete="username" value={email} onInput={setEmail} required autoFocus />
          <Field label="Password" type="password" autoComplete="current-password" value={password} onInput={setPassword} required />
          <Problem text={failed} />
          <button class="button primary" disabled={busy}>
            Sign in
          </button>
          {oidc && (
            <a class="button" target="_top" href={"/signin/oidc?to=" + encodeURIComponent(query.value.get("next") ?? "/")}>
              Sign in with {oidc}
            </a>
          )}
          <button type="button" class="button plain" disabled={busy} onClick={reset}>
            Forgot password?
          </button>
        </form>
        <p class="soft small" role="status">
          {notice || "No account? Ask your administrator."}
        </p>
      </Screen>
    </div>
  )
}

// landing is where the sign-in leads; in place of a list of one brand it is the brand.
async function landing(): Promise<string> {
  const to = new URL(next(), location.href)
  if (to.pathname + to.search !== "/") return to.href
  const { brands } = await send<Brands>("GET", metrics("brands"))
  return brands.length === 1 ? `/brands/${encodeURIComponent(brands[0]!.slug)}` : "/"
}

// next is where the sign-in leads: back to where it was asked for, never to another origin. It is a whole address, since of
// https://us.example//evil.example/ the path alone would be another host's address.
function next(): string {
  try {
    const to = new URL(query.value.get("next") ?? "/", location.origin)
    return to.href.startsWith(location.origin + "/") && to.pathname !== "/signin" ? to.href : "/"
  } catch {
    return "/"
  }
}

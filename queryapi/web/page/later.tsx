// Parts of the script that come after the first one.
import { type ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"
import { version } from "./api.ts"
import { Failed, Screen, Skeleton } from "./first.ts"

const missing = "A part of the page could not be loaded. Check your connection, then try again."

// later is a component of a part of the script, which is loaded when it is first shown.
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let Loaded: ComponentType<P> | undefined
  return function Later(props: P) {
    const [state, set] = useState<"loading" | "loaded" | "failed">("loading")
    const attempt = version.value // Try again raises it
    useEffect(() => {
      load().then(
        (component) => {
          Loaded = component
          set("loaded")
        },
        async () => (await loadsAgain()) || set("failed"),
      )
    }, [attempt])
    if (Loaded) return <Loaded {...props} />
    if (state !== "failed") return <Skeleton height={320} />
    return (
      <Screen name="Not available">
        <Failed message={missing} />
      </Screen>
    )
  }
}

// loadsAgain loads the page again, once: a new release has its parts at other addresses.
async function loadsAgain(): Promise<boolean> {
  if (history.state?.again || !(await fetch("/signin").then((r) => r.ok, () => false))) return false
  history.replaceState({ again: true }, "")
  location.reload()
  return true
}

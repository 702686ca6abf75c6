import { useState } from "preact/hooks"
import { root, useAnswer, write } from "../api.ts"
import type { Provider, Session } from "../bodies.ts"
import { Confirm, FormDialog } from "../parts/dialog.tsx"
import { Button, Field } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { isOwner } from "../session.ts"

export const useProviders = () => useAnswer<{ providers: Provider[]; capture_providers: Provider[] }>(`${root}/providers`)

const isFree = (p: Provider) => p.available && !p.key_from

// keyOf is where a platform's key comes from.
export function keyOf(p: Provider): string {
  if (p.price) return p.providers?.map((one) => `${one.provider} (${one.key_from === "organization" ? "your own" : "the server's"})`).join(", ") ?? "missing: that of a capture provider"
  if (p.key_from === "organization") return `your own, …${p.key_ends_with ?? ""}${p.available ? "" : ": it cannot be read any more, set it again"}`
  if (p.key_from === "environment") return "the server's"
  return isFree(p) ? "none needed" : "missing"
}

// limitsOf names the limits of a platform's account, and who has set each.
function limitsOf({ limits, limits_from }: Provider): string {
  const parts = { requests_per_minute: "requests a minute", tokens_per_minute: "tokens a minute", in_flight: "at a time" } as const
  const sources = { description: "of a small account", environment: "the server's", organization: "your own", platform: "by its answers" }
  return (Object.keys(parts) as (keyof typeof parts)[])
    .filter((part) => limits[part] > 0)
    .map((part) => `${limits[part].toLocaleString("en")} ${parts[part]} (${sources[limits_from[part]]})`)
    .join(", ")
}

// Providers are the AI platforms, and with whose key they are asked.
export function Providers({ session }: { session: Session }) {
  const providers = useProviders()
  const [setting, set] = useState<Provider | null>(null)
  const [removing, remove] = useState<Provider | null>(null)
  const buttons = (p: Provider) =>
    !isFree(p) &&
    !p.price && (
      <>
        <Button onClick={() => set(p)} aria-label={`${p.key_from === "organization" ? "Replace" : "Set"} key of ${p.name}`}>
          {p.key_from === "organization" ? "Replace key" : "Set key"}
        </Button>
        {p.key_from === "organization" && (
          <Button onClick={() => remove(p)} aria-label={`Remove key of ${p.name}`}>
            Remove
          </Button>
        )}
      </>
    )
  return (
    <>
      <Shown of={providers} height={240}>
        {({ providers, capture_providers }) => (
          <Table<Provider>
            name="Providers"
            title={isOwner(session) ? "The AI platforms. A key of your own wins over the server's, and your account pays" : "The AI platforms. An owner sets their keys"}
            rows={[...providers, ...capture_providers]}
            columns={[
              { name: "Platform", tight: true, cell: (p) => p.name },
              { name: "Key", tight: true, cell: keyOf },
              { name: "State", cell: (p) => <span class={p.available ? "tag own" : "tag"}>{p.available ? "can be asked" : "cannot be asked"}</span> },
              { name: "Models", long: true, cell: (p) => p.models.map((m) => m.model).join(", ") || (p.price ? "" : "captures surfaces") },
              { name: "Limits of the account", long: true, cell: limitsOf },
              ...(isOwner(session) ? [{ name: changes, number: true, cell: buttons }] : []),
            ]}
          />
        )}
      </Shown>
      {setting && <SetKey provider={setting} onClose={() => set(null)} />}
      {removing && (
        <Confirm
          title={`Remove the key of ${removing.name}?`}
          act="Remove"
          onClose={() => remove(null)}
          onAct={() => write("DELETE", `${root}/providers/${removing.platform}`)}
        >
          {removing.name} is then asked with the server's key, if it has one.
        </Confirm>
      )}
    </>
  )
}

function SetKey({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const [key, setKey] = useState("")
  const set = () => write("PUT", `${root}/providers/${provider.platform}`, { key })
  return (
    <FormDialog title={`Key of ${provider.name}`} act="Set key" onClose={onClose} onAct={set}>
      <Field label="API key" type="password" autoComplete="off" value={key} onInput={setKey} required autoFocus hint={`Of your account at ${provider.name}. It is encrypted, and never shown again but for its last four characters.`} />
    </FormDialog>
  )
}

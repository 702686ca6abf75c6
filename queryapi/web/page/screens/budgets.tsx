import { useState } from "preact/hooks"
import { root, useAnswer, write } from "../api.ts"
import type { Budget, Limits, Session } from "../bodies.ts"
import { number } from "../format.ts"
import { FormDialog } from "../parts/dialog.tsx"
import { Button, Field, Select } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { isOwner } from "../session.ts"
import { useProviders } from "./providers.tsx"

const nameOf = (platform: string) => platform || "All platforms"

// spent is an amount of a limit, where there is one.
function spent(amount: number | string, limit: number | string | null): string {
  return limit === null ? number(Number(amount)) : `${number(Number(amount))} of ${number(Number(limit))}`
}

// Budgets are what runs may cost; a start for which there is no room is refused.
export function Budgets({ session }: { session: Session }) {
  const budgets = useAnswer<{ budgets: Budget[] }>(`${root}/tracking/budgets`)
  const [setting, set] = useState<string | null>(null) // whose; "" is all platforms
  return (
    <>
      <Shown of={budgets} height={160}>
        {({ budgets }) => (
          <Table<Budget>
            name="Budgets"
            title={`Spent, and of how much, in this day and month (UTC). Runs that do not fit are not started${isOwner(session) ? "" : "; an owner sets budgets"}`}
            rows={budgets}
            own={(b) => b.platform === ""}
            columns={[
              { name: "Platform", cell: (b) => nameOf(b.platform) },
              { name: "Runs today", number: true, cell: (b) => spent(b.spent.runsDay, b.runsPerDay) },
              { name: "Runs this month", number: true, cell: (b) => spent(b.spent.runsMonth, b.runsPerMonth) },
              { name: "USD today", number: true, cell: (b) => spent(b.spent.costDay, b.costPerDay) },
              { name: "USD this month", number: true, cell: (b) => spent(b.spent.costMonth, b.costPerMonth) },
              ...(isOwner(session)
                ? [{
                    name: changes,
                    number: true,
                    cell: (b: Budget) => (
                      <Button onClick={() => set(b.platform)} aria-label={`Change budget of ${nameOf(b.platform)}`}>
                        Change
                      </Button>
                    ),
                  }]
                : []),
            ]}
            tools={
              isOwner(session) && (
                <Button kind="primary" onClick={() => set("")}>
                  Set budget
                </Button>
              )
            }
          />
        )}
      </Shown>
      {setting !== null && <SetBudget first={setting} budgets={budgets.data?.budgets ?? []} onClose={() => set(null)} />}
    </>
  )
}

const limits: { name: keyof Limits; label: string; inputMode: "numeric" | "decimal" }[] = [
  { name: "runsPerDay", label: "Runs a day", inputMode: "numeric" },
  { name: "runsPerMonth", label: "Runs a month", inputMode: "numeric" },
  { name: "costPerDay", label: "US dollars a day", inputMode: "decimal" },
  { name: "costPerMonth", label: "US dollars a month", inputMode: "decimal" },
]

function SetBudget({ first, budgets, onClose }: { first: string; budgets: Budget[]; onClose: () => void }) {
  const of = (platform: string) => limits.map(({ name }) => String(budgets.find((b) => b.platform === platform)?.[name] ?? ""))
  const [platform, choose] = useState(first)
  const [texts, setTexts] = useState(of(first))
  const providers = useProviders().data?.providers ?? []
  const save = async () => {
    const body = Object.fromEntries(limits.map(({ name, inputMode }, i) => [name, limitOf(texts[i]!.trim(), inputMode)]))
    await write("PUT", `${root}/tracking/budgets`, { platform, ...body })
  }
  return (
    <FormDialog title="Budget" act="Save" onClose={onClose} onAct={save}>
      <Select
        label="Budget for"
        value={platform}
        onInput={(next) => {
          choose(next)
          setTexts(of(next))
        }}
      >
        {["", ...providers.map((p) => p.platform)].map((one) => (
          <option key={one} value={one}>
            {nameOf(one)}
          </option>
        ))}
      </Select>
      <p class="soft small">An empty field is no limit.</p>
      <div class="line">
        {limits.map(({ name, label, inputMode }, i) => (
          <Field key={name} label={label} inputMode={inputMode} value={texts[i]!} onInput={(text) => setTexts(texts.map((old, j) => (i === j ? text : old)))} />
        ))}
      </div>
    </FormDialog>
  )
}

// limitOf is a limit as the API takes it; what is no number goes there as text, and comes back with what would be right.
function limitOf(text: string, mode: "numeric" | "decimal"): number | string | null {
  if (!text) return null
  return mode === "decimal" || Number.isNaN(Number(text)) ? text : Number(text)
}

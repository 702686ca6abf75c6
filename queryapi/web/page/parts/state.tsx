import type { ComponentChildren } from "preact"
import { type Answered, refresh } from "../api.ts"
import { Button } from "./form.tsx"

// Shown is what an answer shows: while it comes a skeleton, and where it fails why.
export function Shown<T>({ of, height = 160, children }: { of: Answered<T>; height?: number; children: (data: T) => ComponentChildren }) {
  if (of.failure) return <Failed message={of.failure.message} />
  if (of.data === undefined) return <Skeleton height={height} />
  return (
    <div class={of.loading ? "stale" : ""} aria-busy={of.loading}>
      {children(of.data)}
    </div>
  )
}

export function Failed({ message }: { message: string }) {
  return (
    <div class="notice bad" role="alert">
      <span>{message}</span>
      <Button kind="tight" onClick={refresh}>
        Try again
      </Button>
    </div>
  )
}

export function Skeleton({ height }: { height: number }) {
  return (
    <div role="status" style={{ padding: "16px" }}>
      <span class="hidden">Loading</span>
      <span class="skeleton" style={{ height: `${height}px` }} />
    </div>
  )
}

// Empty is a card that says that there is nothing; next leads to the next step.
export function Empty({ title, children, next }: { title: string; children: string; next?: [address: string | undefined, text: string] }) {
  return (
    <div class="card empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {next && (
        <a class="button primary" href={next[0]}>
          {next[1]}
        </a>
      )}
    </div>
  )
}

export function Notice({ kind = "warn", children }: { kind?: "warn" | "plain"; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role="note">
      <span>{children}</span>
    </div>
  )
}

import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

// Card is a part of a screen with a heading of its own.
export function Card({ name, title, tools, children }: { name: string; title?: string; tools?: ComponentChildren; children?: ComponentChildren }) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id}>{name}</h2>
          {title && <p>{title}</p>}
        </div>
        {tools}
      </header>
      {children}
    </section>
  )
}

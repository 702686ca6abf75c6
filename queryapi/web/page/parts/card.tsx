import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

interface HeadProps {
  name: string
  title?: ComponentChildren // below the name
  tools?: ComponentChildren
}

// Head is the header of a card.
export function Head({ id, name, title, tools }: HeadProps & { id?: string }) {
  return (
    <header>
      <div>
        <h2 id={id}>{name}</h2>
        {title && <p>{title}</p>}
      </div>
      {tools && <div class="line">{tools}</div>}
    </header>
  )
}

// Card is a part of a screen with a heading of its own.
export function Card({ children, ...head }: HeadProps & { children?: ComponentChildren }) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <Head id={id} {...head} />
      {children}
    </section>
  )
}

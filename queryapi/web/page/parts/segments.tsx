import { query, withParameters } from "../route.ts"

interface Props {
  name: string
  parameter: string
  options: readonly (readonly [value: string, name: string])[] // the first is chosen where the address says nothing
  drops?: string // parameters, by spaces, that a choice takes out of the address
}

// Segments choose one value of a parameter of the address.
export function Segments({ name, parameter, options, drops = "" }: Props) {
  const others = Object.fromEntries(drops.split(" ").map((name) => [name, undefined]))
  const at = query.value.get(parameter)
  const chosen = options.some(([value]) => value === at) ? at : options[0]![0]
  return (
    <nav class="segments" aria-label={name}>
      {options.map(([value, text], i) => (
        <a
          key={value}
          href={withParameters({ ...others, [parameter]: i === 0 ? undefined : value })}
          aria-current={value === chosen ? "true" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}

import { query, withParameters } from "../route.ts"

interface Props {
  name: string
  parameter: string
  options: readonly (readonly [value: string, name: string])[] // the first is chosen where the address says nothing
}

// Segments choose one value of a parameter of the address.
export function Segments({ name, parameter, options }: Props) {
  const at = query.value.get(parameter)
  const chosen = options.some(([value]) => value === at) ? at : options[0]![0]
  return (
    <nav class="segments" aria-label={name}>
      {options.map(([value, text], i) => (
        <a
          key={value}
          href={withParameters({ [parameter]: i === 0 ? undefined : value })}
          aria-current={value === chosen ? "true" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}

interface TypesProps { names: Record<string, string>; chosen: string[]; onInput: (types: string[]) => void; hint?: string }

// Types choose types of events, by their names.
export function Types({ names, chosen, onInput, hint }: TypesProps) {
  return (
    <fieldset class="plain line">
      <legend>
        Events <span class="soft small">{hint}</span>
      </legend>
      {Object.entries(names).map(([type, name]) => (
        <label key={type} class="check">
          <input type="checkbox" checked={chosen.includes(type)} onInput={() => onInput(chosen.includes(type) ? chosen.filter((t) => t !== type) : [...chosen, type])} /> {name}
        </label>
      ))}
    </fieldset>
  )
}

import { Empty } from "../parts/state.tsx"
import { Screen } from "../parts/frame.tsx"

export function NotFound() {
  return (
    <Screen name="Not found">
      <div class="card">
        <Empty
          title="There is no such page"
          action={
            <a class="button" href="/">
              Your brands
            </a>
          }
        >
          The address may be mistyped. A brand may also have been renamed or deleted, or it belongs to another organization.
        </Empty>
      </div>
    </Screen>
  )
}

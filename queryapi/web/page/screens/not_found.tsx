import { Empty } from "../parts/state.tsx"
import { Screen } from "../parts/frame.tsx"

export function NotFound() {
  return (
    <Screen name="Not found">
      <Empty title="There is no such page" next={["/", "Your brands"]}>
        The address may be mistyped. A brand may also have been renamed or deleted, or it belongs to another organization.
      </Empty>
    </Screen>
  )
}

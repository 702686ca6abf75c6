import { useState } from "preact/hooks"
import { Failure, root, send } from "../api.ts"
import { FormDialog } from "../parts/dialog.tsx"
import { Field } from "../parts/form.tsx"
import { meta } from "../session.ts"

// PasswordDialog changes the viewer's password.
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const [current, setCurrent] = useState("")
  const [password, setPassword] = useState("")
  const [again, setAgain] = useState("")
  const oidc = meta("oidc")
  const change = async () => {
    try {
      await send("PUT", `${root}/user`, { current_password: current, password })
    } catch (error) {
      throw error instanceof Failure && error.status === 400 ? new Failure(400, "The current password is wrong.") : error
    }
  }
  return (
    <FormDialog title="Change password" act="Change password" can={password === again} onClose={onClose} onAct={change}>
      <Field label="Current password" type="password" autoComplete="current-password" value={current} onInput={setCurrent} required autoFocus hint={oidc && `Who signs in with ${oidc} changes it there.`} />
      <Field label="New password" type="password" autoComplete="new-password" value={password} onInput={setPassword} required hint="Several unrelated words will do." />
      <Field label="New password again" type="password" autoComplete="new-password" value={again} onInput={setAgain} required hint="Your sessions elsewhere end; API keys stay." />
    </FormDialog>
  )
}

// What the screens that make a brand share.
import { Failure, send, tables } from "../api.ts"
import type { Brand, Session } from "../bodies.ts"

export const domainHint = "Such as example.com: citations of its pages count as the brand's."

export interface Domain { id: string; domain: string }

// saveBrand makes a brand, or gives the one that is made its name.
export async function saveBrand(session: Session, made: Brand | undefined, name: string): Promise<Brand> {
  const returned = { Prefer: "return=representation" }
  const [saved] = made
    ? await send<Brand[]>("PATCH", tables("brands", { id: `eq.${made.id}` }), { name }, returned)
    : await send<Brand[]>("POST", tables("brands"), { organization_id: session.organizationId, name }, returned)
  if (!saved) throw new Failure(404, "The brand is gone.")
  return saved
}

// saveDomain gives a brand its primary domain, in place of the one that it was given before. An empty text is none.
export async function saveDomain(brand: Brand, was: Domain | undefined, text: string): Promise<void> {
  const domain = text.trim()
  if (domain === (was?.domain ?? "")) return
  if (!was) await send("POST", tables("brand_domains"), { brand_id: brand.id, domain, is_primary: true })
  else if (domain) await send("PATCH", tables("brand_domains", { id: `eq.${was.id}` }), { domain })
  else await send("DELETE", tables("brand_domains", { id: `eq.${was.id}` }))
}

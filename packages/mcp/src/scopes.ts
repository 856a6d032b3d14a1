import { FIRST_SCOPE, SCOPES, type Scope, withIncluded } from '@market/contract/scopes'
import { tools } from '@market/contract/tools'

const SCOPE_OF = new Map(
  tools.flatMap((tool) => ('scope' in tool ? [[tool.name as string, tool.scope] as const] : [])),
)

/** The scopes that the calls of a request need and the token does not have; all that it needs, for asking the user again. */
export function missingScopes(body: unknown, granted: readonly string[]): readonly Scope[] {
  const messages = Array.isArray(body) ? body : [body]
  const needed = SCOPES.filter((scope) => messages.some((message) => scopeOf(message) === scope)).at(-1)
  const all = withIncluded(needed ?? FIRST_SCOPE)
  return all.every((scope) => granted.includes(scope)) ? [] : all
}

function scopeOf(message: unknown): Scope | undefined {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } }
  return method === 'tools/call' ? SCOPE_OF.get(String(params?.name)) : undefined
}

/** The `WWW-Authenticate` of a 401 or 403, by which clients find the authorization server. */
export function challenge(
  metadataUrl: string | undefined,
  { error, scopes = [FIRST_SCOPE] }: { readonly error?: string; readonly scopes?: readonly Scope[] } = {},
): string {
  if (metadataUrl === undefined) return 'Bearer realm="agent-market"'
  const named = error === undefined ? '' : `error="${error}", `
  return `Bearer ${named}scope="${scopes.join(' ')}", resource_metadata="${metadataUrl}"`
}

import { FIRST_SCOPE, type Scope, withIncluded } from '@market/contract/scopes'
import { findTool } from '@market/contract/tools'

/** The scopes that the calls of a request need and the token does not have. */
export function missingScopes(body: unknown, granted: readonly string[]): readonly Scope[] {
  const messages = Array.isArray(body) ? body : [body]
  const needed = withIncluded([FIRST_SCOPE, ...messages.map(scopeOf)])
  return needed.filter((scope) => !granted.includes(scope))
}

function scopeOf(message: unknown): Scope {
  const { method, params } = (message ?? {}) as Message
  const tool = method === 'tools/call' ? findTool(String(params?.name)) : undefined
  if (tool === undefined || 'fails' in tool) return FIRST_SCOPE
  const needsKeys = tool.keysFields?.some((field) => params?.arguments?.[field] !== undefined)
  return needsKeys === true ? 'market:keys' : tool.scope
}

interface Message {
  readonly method?: unknown
  readonly params?: { readonly name?: unknown; readonly arguments?: Readonly<Record<string, unknown>> | null }
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

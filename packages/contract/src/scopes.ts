/** What a user may allow a program by OAuth. */
export const SCOPES = ['market:read', 'market:write', 'market:funds', 'market:keys'] as const

export type Scope = (typeof SCOPES)[number]

/** The first connection asks for this. A program asks for more when it calls a tool that needs more. */
export const FIRST_SCOPE: Scope = 'market:read'

/** What a scope includes beside itself. Neither of the last two includes the other. */
const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  'market:read': [],
  'market:write': ['market:read'],
  'market:funds': ['market:read', 'market:write'],
  'market:keys': ['market:read', 'market:write'],
}

/** The scopes among these words, with those they include. Other words are ignored. */
export const withIncluded = (words: readonly string[]): readonly Scope[] => {
  const named = SCOPES.filter((scope) => words.includes(scope))
  return SCOPES.filter((scope) => named.some((one) => one === scope || INCLUDED[one].includes(scope)))
}

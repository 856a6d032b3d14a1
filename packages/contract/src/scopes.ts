/** What a user may allow a program by OAuth. */
export const SCOPES = ['market:read', 'market:write', 'market:funds', 'market:keys'] as const

export type Scope = (typeof SCOPES)[number]

/** The first connection asks for this. A program asks for more when it calls a tool that needs more. */
export const FIRST_SCOPE: Scope = 'market:read'

/** What the user reads before allowing it. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'market:read': 'See orders, messages, services and earnings',
  'market:write':
    'Act in orders: quote, deliver, send messages, dispute, cancel, and approve work, which pays for it. Claim bounties. Change services and the profile.',
  'market:funds':
    'Pay for services with money that you or your agent sent. Launch a token, which the agent’s wallet pays for. Put money that was sent into pools of Earn, where it can be lost, and take it out again.',
  'market:keys':
    'Register agents in your name and receive their API keys, which keep working after you end the connection. Choose the address that receives the orders of your agent.',
}

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

/** The scopes of a list separated by spaces, with those they include; the first one when it names none. */
export const requestedScopes = (text: string): readonly Scope[] => {
  const scopes = withIncluded(text.split(' '))
  return scopes.length === 0 ? [FIRST_SCOPE] : scopes
}

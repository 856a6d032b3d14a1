/** What a user may allow a program by OAuth. Each scope includes the ones before it. */
export const SCOPES = ['market:read', 'market:write', 'market:funds'] as const

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
}

/** The scope with those it includes. */
export const withIncluded = (scope: Scope): readonly Scope[] => SCOPES.slice(0, SCOPES.indexOf(scope) + 1)

/** The scopes of a list separated by spaces, with those they include. Other words are ignored. */
export const readScopes = (text: string): readonly Scope[] => {
  const named = SCOPES.filter((scope) => text.split(' ').includes(scope))
  const widest = named.at(-1)
  return widest === undefined ? [] : withIncluded(widest)
}
